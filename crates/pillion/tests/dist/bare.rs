//! Places with nothing in them: a Debian with editors and Node that know nothing of Pillion, and the files to install.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// For Neovim: writes whether the plugin runs, as soon as it does, whether its help is there, and the last error.
pub const LOOK_OF_NEOVIM: &str = "
    local rounds, timer = 0, vim.uv.new_timer()
    timer:start(100, 100, vim.schedule_wrap(function()
      rounds = rounds + 1
      local client = package.loaded['pillion.client']
      local running = client ~= nil and client.is_running()
      if running or rounds > 200 then
        timer:stop()
        local help = #vim.fn.getcompletion('pillion-', 'help') > 5
        local said = table.concat({ tostring(running), tostring(help), vim.v.errmsg }, ' ')
        vim.fn.writefile({ said }, '/tmp/look')
        vim.cmd('qall!')
      end
    end))";

/// The folder of the artifacts. `cargo xtask test --only dist` says so.
pub fn artifacts() -> PathBuf {
    folder("PILLION_TEST_DIST")
}

/// One of them, by the start and the end of its name.
pub fn artifact(start: &str, end: &str) -> PathBuf {
    let is_it = |name: &str| name.starts_with(start) && name.ends_with(end);
    let entries = fs::read_dir(artifacts())
        .unwrap()
        .map(|it| it.unwrap().path());
    let mut found = entries.filter(|path| is_it(path.file_name().unwrap().to_str().unwrap()));
    found
        .next()
        .unwrap_or_else(|| panic!("no {start}…{end} in {}", artifacts().display()))
}

fn folder(variable: &str) -> PathBuf {
    let folder = env::var_os(variable);
    let folder = folder
        .unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test --only dist`"));
    PathBuf::from(folder)
}

/// The name of this machine's processor in a target.
pub fn target() -> String {
    format!("{}-unknown-linux-musl", env::consts::ARCH)
}

/// A tarball, unpacked.
pub fn unpacked(archive: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(folder.path());
    assert!(tar.status().unwrap().success());
    folder
}

/// Makes the root of a Debian in `$CHANGES/merged`, with what `$BINDS` names in it, and runs `$SCRIPT` there.
const ENTER: &str = r#"
    set -e
    cd "$CHANGES"
    mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=upper,workdir=work" merged
    mkdir -p merged/root/project
    printf %s "$BINDS" | while IFS=: read -r from to; do
        if [ -d "$from" ]; then mkdir -p "merged/$to"; else touch "merged/$to"; fi
        mount --bind "$from" "merged/$to"
    done
    mount --rbind /dev merged/dev
    mount -t proc proc merged/proc
    exec chroot merged env -i PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin HOME=/root \
        LC_ALL=C.UTF-8 TERM=xterm DEBIAN_FRONTEND=noninteractive sh -ec "cd /root/project; $SCRIPT"
"#;

/// A Debian of its own, which is as it was installed plus what the test does in it.
pub struct Debian {
    changes: TempDir,
}

impl Debian {
    pub fn new() -> Debian {
        // Not in memory: an overlay wants a file system that keeps its marks.
        let target = artifacts().parent().unwrap().to_owned();
        let changes = tempfile::Builder::new()
            .prefix("root-")
            .tempdir_in(target)
            .unwrap();
        for name in ["upper", "work", "merged"] {
            fs::create_dir(changes.path().join(name)).unwrap();
        }
        Debian { changes }
    }

    /// The path of a file of it that the test puts there, or that was changed there.
    pub fn path(&self, path: &str) -> PathBuf {
        self.changes.path().join("upper").join(path)
    }

    /// Puts a file there.
    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The content of a file that was written there.
    pub fn get(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs a script there as root, with the artifacts in `/dist`. Returns what it printed. All that it started ends with it.
    #[track_caller]
    pub fn run(&self, script: &str) -> String {
        let output = self
            .enter(&[(&artifacts(), "dist")], script)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{script}\n{printed}\n{said}");
        printed
    }

    /// Runs a script there, with these files and folders of this machine in these places.
    fn enter(&self, binds: &[(&Path, &str)], script: &str) -> Command {
        let binds = binds
            .iter()
            .map(|(from, to)| format!("{}:{to}\n", from.display()));
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--pid", "--fork", "--kill-child"])
            .args(["sh", "-c", ENTER])
            .env("CHANGES", self.changes.path())
            .env("LOWER", folder("PILLION_TEST_ROOT"))
            .env("BINDS", binds.collect::<String>())
            .env("SCRIPT", script)
            .stdin(Stdio::null());
        command
    }

    /// Starts it, with nothing in it but what is installed, and these files and folders of this machine.
    pub fn start(&self, binds: &[(&Path, &str)]) -> Running {
        let mut enter = self.enter(binds, "echo up; exec sleep infinity");
        let mut holder = enter.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let output = holder.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut said).unwrap();
        assert_eq!(said, "up\n");
        let root = self.changes.path().join("merged");
        Running { holder, root }
    }

    /// Every file that is there, but for what package managers keep about themselves.
    pub fn files(&self) -> Vec<String> {
        let listed = self.run(
            "find / -xdev \\( -path /proc -o -path /dev -o -path /dist -o -path /var/lib/dpkg -o -path /var/log \
             -o -path /var/cache -o -path /tmp -o -path /root \\) -prune -o -print",
        );
        let mut files: Vec<_> = listed.lines().map(str::to_owned).collect();
        files.sort();
        assert!(files.len() > 1000);
        files
    }
}

/// A Debian that runs, until this is dropped.
pub struct Running {
    holder: Child,
    root: PathBuf,
}

impl Running {
    /// The command of a login in this folder of it: a shell that says before each line how the last one ended.
    pub fn login(&self, folder: &str) -> Vec<String> {
        let namespaces = format!("/proc/{}/ns", self.holder.id());
        let shell = format!("cd {folder} && PS1='[$?] $ ' exec bash --norc -i");
        vec![
            "nsenter".to_owned(),
            format!("--mount={namespaces}/mnt"),
            format!("--pid={namespaces}/pid_for_children"),
            "chroot".to_owned(),
            self.root.display().to_string(),
            "sh".to_owned(),
            "-c".to_owned(),
            shell,
        ]
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
