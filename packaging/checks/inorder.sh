# Makes ids, loads 100,000 rows, checks the database and measures. Needs `inorder` on the PATH, python3 and sqlite3.
inorder id ulid -n 1000 > ids
sort -c ids
[ "$(sort -u ids | wc -l)" = 1000 ]
inorder id inspect "$(head -n 1 ids)" | grep -q ulid
python3 -c "
import uuid
print('id,n')
for n in range(100000): print(f'{uuid.uuid4()},{n}')" > rows.csv
inorder load rows.csv rows.db --key id
[ "$(sqlite3 rows.db 'PRAGMA integrity_check; SELECT count(*), sum(n) FROM rows')" = "ok
100000|4999950000" ]
inorder bench same-millisecond --repetitions 1 --budget 20s --dir run | grep -q same-millisecond
ls run/*.db run/*.html > /dev/null
