//! Writing a file as a whole or not at all.

use std::fs::File;
use std::path::Path;

use crate::Error;

/// Writes `path` with `contents`: temporary file in the same folder, synchronize, rename, synchronize the folder. On an
/// error the temporary file is removed and what was at `path` is as it was. (If only the last step fails, the new file is
/// in place and may not survive a loss of power.)
pub(crate) fn write(path: &Path, contents: impl FnOnce(&mut File) -> Result<(), Error>) -> Result<(), Error> {
    let io = |operation| move |source| Error::Io { path: path.into(), operation, source };
    // "run.safetensors" has the parent "".
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Neither a device nor a pipe is to become a file. What isn't there yet is one.
    if let Ok(about) = std::fs::symlink_metadata(path)
        && !about.is_file()
        && !about.is_symlink()
    {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file");
        return Err(io("replace")(source));
    }
    let mut options = tempfile::Builder::new();
    options.prefix(".checkpoint-").suffix(".tmp");
    // The usual permissions, less the umask; a temporary file's would keep everyone else out.
    #[cfg(unix)]
    options.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = options.tempfile_in(folder).map_err(io("create a temporary file"))?;
    contents(file.as_file_mut())?;
    file.as_file().sync_all().map_err(io("synchronize"))?;
    file.persist(path).map_err(|e| io("rename")(e.error))?;
    // A rename is on the disk when its folder is. Folders can't be opened as files elsewhere.
    #[cfg(unix)]
    File::open(folder).and_then(|f| f.sync_all()).map_err(io("synchronize the folder"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let all = |bytes: &'static [u8]| {
            write(&path, |f| {
                f.write_all(bytes).unwrap();
                Ok(())
            })
        };
        all(b"old").unwrap();
        let error = write(&path, |f| {
            f.write_all(b"ne").unwrap();
            Err(Error::Name { name: "n".into(), reason: "stops here" })
        });
        assert!(matches!(error, Err(Error::Name { .. })), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_replaced_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let error = write(&path, |_| Ok(()));
        assert!(matches!(error, Err(Error::Io { operation: "replace", .. })), "{error:?}");
        assert!(!std::fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
