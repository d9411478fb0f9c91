using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Files;

/// <summary>A directory that is open for writing cannot be opened again, on any file system; otherwise opening fails.</summary>
public sealed partial class DirectoryLockTests
{
    private static readonly StorageOptions _reading = new() { ReadOnly = true };

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Where_locks_are_refused_or_granted_to_all_the_store_is_refused(bool grantsAll)
    {
        using var directory = new TemporaryDirectory();
        var floor = new SystemFloor { RefusesLocks = !grantsAll, GrantsAllLocks = grantsAll };
        StorageException error = Assert.Throws<StorageException>(
            () => StorageEnvironment.Open(floor.World(directory.Path), new StorageOptions()));
        Assert.Contains("has no file locks", error.Message, StringComparison.Ordinal);
        Assert.Contains("AllowMissingLocks", error.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(FormatLimits.DataFileName, Directory.GetFiles(directory.Path).Select(Path.GetFileName));

        using (StorageEnvironment open = StorageEnvironment.Open(
            floor.World(directory.Path, allowMissingLocks: true), new StorageOptions { AllowMissingLocks = true }))
        {
            open.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
            Assert.False(open.GetStatistics().Platform.IsLockProven);
        }

        Assert.Throws<StorageException>(() => StorageEnvironment.Open(floor.World(directory.Path), _reading));
    }

    /// <summary>Between fork and exec, a child process has copies of all descriptors, and so of the locks.</summary>
    [Fact]
    public void A_closed_store_can_be_opened_again_while_a_process_is_being_started()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The descriptors of a process are listed by Linux.");
        using var directory = new TemporaryDirectory();
        var copies = new List<int>();
        try
        {
            using (StorageEnvironment.Open(directory.Path))
            {
                foreach (FileInfo descriptor in new DirectoryInfo("/proc/self/fd").EnumerateFiles())
                    if (descriptor.LinkTarget?.StartsWith(directory.Path, StringComparison.Ordinal) == true)
                        copies.Add(Duplicate(int.Parse(descriptor.Name, CultureInfo.InvariantCulture)));
                Assert.True(copies.Count >= 2, "The lock file and the data file are open.");
            }

            using (StorageEnvironment.Open(directory.Path))
                Assert.Throws<EnvironmentLockedException>(() => StorageEnvironment.Open(directory.Path));
        }
        finally
        {
            foreach (int copy in copies)
                _ = Close(copy);
        }
    }

    [LibraryImport("libc", EntryPoint = "dup")]
    private static partial int Duplicate(int descriptor);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int descriptor);

    [Fact]
    public void A_lock_that_works_is_proven()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Assert.True(environment.GetStatistics().Platform.IsLockProven);
    }

    [Fact]
    public void A_reader_that_finds_no_lock_file_is_kept_apart_from_writers()
    {
        using var directory = new TemporaryDirectory();
        StorageEnvironment.Open(directory.Path).Dispose();
        string lockFile = Path.Combine(directory.Path, FormatLimits.LockFileName);
        File.Delete(lockFile);
        using (StorageEnvironment.Open(directory.Path, _reading))
        {
            using StorageEnvironment other = StorageEnvironment.Open(directory.Path, _reading);
            Assert.False(File.Exists(lockFile));
            Assert.Throws<EnvironmentLockedException>(() => StorageEnvironment.Open(directory.Path));
        }

        using (StorageEnvironment.Open(directory.Path))
        {
            File.Delete(lockFile); // a user deletes the lock file while the writer is running
            Assert.Throws<EnvironmentLockedException>(() => StorageEnvironment.Open(directory.Path, _reading));
            Assert.Throws<EnvironmentLockedException>(() => StorageEnvironment.Open(directory.Path));
            // Other programs may read the files.
            Assert.True(
                Directory.GetFiles(directory.Path).Length > 0
                    && File.ReadAllBytes(Path.Combine(directory.Path, FormatLimits.DataFileName)).Length > 0);
        }
    }

    [Fact]
    public void An_opening_that_fails_takes_its_lock_file_back_before_the_lock_ends()
    {
        using var directory = new TemporaryDirectory();
        using (EncryptionKey key = EncryptionKey.FromBytes(System.Security.Cryptography.RandomNumberGenerator.GetBytes(32)))
            StorageEnvironment.Open(directory.Path, new StorageOptions { EncryptionKey = key }).Dispose();
        string lockFile = Path.Combine(directory.Path, FormatLimits.LockFileName);
        File.Delete(lockFile);
        Assert.Throws<EncryptionKeyException>(() => StorageEnvironment.Open(directory.Path));
        Assert.False(File.Exists(lockFile));
    }

    /// <summary>
    /// Openers that fail delete the lock file while others succeed. Two of them must never hold the directory at once.
    /// </summary>
    [Fact]
    public void A_lock_of_a_deleted_file_is_none()
    {
        using var directory = new TemporaryDirectory();
        string lockFile = Path.Combine(directory.Path, "lock"), dataFile = Path.Combine(directory.Path, "data");
        int inside = 0, most = 0, taken = 0;
        var clock = Stopwatch.StartNew();
        Parallel.For(0, 4, _ =>
        {
            while (clock.ElapsedMilliseconds < 1_000)
            {
                using Storage.Files.DirectoryLock? held = TryTake(lockFile, dataFile);
                if (held is null)
                    continue;
                int now = Interlocked.Increment(ref inside);
                if (now > 1)
                    Interlocked.Exchange(ref most, now);
                Interlocked.Increment(ref taken);
                Interlocked.Decrement(ref inside);
                File.Delete(lockFile); // the last operation under the lock
            }
        });
        Assert.True(taken > 10, $"taken {taken} times");
        Assert.Equal(0, most);
    }

    /// <summary>
    /// With this setting, .NET takes no locks; the engine's own lock is independent of it. The setting is read once, so it
    /// is set for another process.
    /// </summary>
    [Fact]
    public void The_lock_is_not_that_of_the_runtime()
    {
        string program = Environment.ProcessPath!; // a process has a path
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        if (Path.GetFileNameWithoutExtension(program) == "dotnet")
            start.ArgumentList.Add(typeof(DirectoryLockTests).Assembly.Location);
        start.ArgumentList.Add("--filter-method");
        start.ArgumentList.Add(
            $"{typeof(BadWorldTests).FullName}.{nameof(BadWorldTests.A_second_opener_is_refused_and_told_who_has_it)}");
        start.Environment["DOTNET_SYSTEM_IO_DISABLEFILELOCKING"] = "1";
        using Process child = Process.Start(start)!; // it starts a new process
        string said = child.StandardOutput.ReadToEnd();
        Assert.True(child.WaitForExit(60_000), "The other process does not end.");
        Assert.True(child.ExitCode == 0, said);
    }

    private static Storage.Files.DirectoryLock? TryTake(string lockFile, string dataFile)
    {
        try
        {
            return Storage.Files.DirectoryLock.TryTakeAlone(
                lockFile, dataFile, Storage.Memory.SystemCalls.Default, mayBeUnproven: false);
        }
        catch (FileNotFoundException)
        {
            return null; // deleted between the two checks; the next attempt creates it again
        }
    }
}
