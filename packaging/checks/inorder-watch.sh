# Starts the server, reads its page and stops it. Needs `inorder-watch` on the PATH and python3.
inorder-watch user list --db watch.db || true
inorder-watch serve --db watch.db 2> log &
server=$!
cat > watch.py <<'PYTHON'
import time
import urllib.request

for attempt in range(100):
    try:
        page = urllib.request.urlopen("http://127.0.0.1:8080/").read().decode()
        break
    except OSError:
        time.sleep(0.1)
assert "What to Watch" in page, page
PYTHON
python3 watch.py
kill -TERM $server
wait $server
