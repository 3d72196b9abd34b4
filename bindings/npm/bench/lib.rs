//! Writes ids into the memory that JavaScript reads.

use std::cell::UnsafeCell;

use inorder_key::{Ulid, Uuid};

/// Room for 64 ids. WebAssembly has one thread here.
struct Out(UnsafeCell<[[u8; 36]; 64]>);

// SAFETY: the module has one thread.
unsafe impl Sync for Out {}

static OUT: Out = Out(UnsafeCell::new([[0; 36]; 64]));

/// Returns where the ids are written, each in 36 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn out() -> *const u8 {
    OUT.0.get().cast()
}

fn write(count: usize, mut make: impl FnMut(&mut [u8; 36])) {
    // SAFETY: no other reference exists while a function of this module runs.
    let out = unsafe { &mut *OUT.0.get() };
    out[..count].iter_mut().for_each(&mut make);
}

/// Writes ULIDs.
#[unsafe(no_mangle)]
pub extern "C" fn ulids(count: usize) {
    write(count, |out| {
        out[..26].copy_from_slice(&Ulid::now().to_text())
    });
}

/// Writes UUIDv7s.
#[unsafe(no_mangle)]
pub extern "C" fn uuids(count: usize) {
    write(count, |out| Uuid::now_v7().write_text(out));
}
