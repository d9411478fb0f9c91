using Treepie.Storage.Backups;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Backups;

/// <summary>A chain of a snapshot, increments and logs can be restored to each of its commits, and to nothing else.</summary>
public sealed class LogBackupTests
{
    private readonly Random _random = new(Seed.Next());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Random_chains_land_on_exactly_the_commit_that_is_asked_for(bool isEncrypted)
    {
        using var key = EncryptionKey.Generate();
        StorageOptions options = BackupParts.Options with { EncryptionKey = isEncrypted ? key : null };
        var disk = new SimulatedDisk(_random);
        var states = new SortedDictionary<long, (Model Model, DateTimeOffset At)>();
        var parts = new List<BackupChainPart>();
        var model = new Model();
        var workload = new Workload(_random, new WorkloadShape { Keys = 500, MaxSteps = 20, MaxValueBytes = 30_000 });
        var clock = new SimulatedClock();
        clock.Advance(TimeSpan.FromSeconds(1));
        EnvironmentBackupLink? pages = null, log = null;
        long first = 0;
        for (int session = 0; session < 3; session++)
        {
            using StorageEnvironment environment = StorageEnvironment.Open(disk.World(session) with { Clock = clock }, options);
            environment.KeepLog(8 << 20);
            for (int step = 0; step < 60; step++)
            {
                int action = _random.Next(20);
                if (pages is null || action == 0)
                {
                    (byte[] bytes, EnvironmentBackupLink taken) = await BackupParts.TakeAsync(environment, pages, key);
                    parts.Add(BackupParts.Part($"pages-{parts.Count}", bytes, key));
                    log ??= taken;
                    first = pages is null ? taken.Commit : first;
                    pages = taken;
                }
                else if (action == 1)
                {
                    (byte[] bytes, log) = await BackupParts.TakeLogAsync(environment, log!, key);
                    parts.Add(BackupParts.Part($"log-{parts.Count}", bytes, key));
                }
                else if (action == 2)
                {
                    environment.Checkpoint();
                }
                else if (action == 3)
                {
                    environment.Shrink(); // rewrites pages elsewhere in commits of its own
                }
                else if (action == 4 && !environment.DropSnapshot("kept"))
                {
                    environment.CreateSnapshot("kept");
                }

                Note(environment); // the actions above made commits too
                clock.Advance(TimeSpan.FromMilliseconds(_random.Next(3)));
                Func<WriteTransaction, bool> command = workload.Next(model);
                long id = environment.Write(transaction =>
                {
                    command(transaction);
                    return transaction.TransactionId;
                });
                using ReadTransaction read = environment.BeginRead();
                if (read.TransactionId == id)
                    states[id] = (model.Copy(), clock.GetUtcNow());
            }

            Note(environment); // the last command may have made a commit too
            (byte[] last, log) = await BackupParts.TakeLogAsync(environment, log!, key);
            parts.Add(BackupParts.Part($"log-{parts.Count}", last, key));
        }

        long[] commits = [.. states.Keys.Where(commit => commit >= first)];
        for (int i = 0; i < 8; i++)
        {
            long commit = i == 0 ? commits[^1] : commits[_random.Next(commits.Length)];
            bool byTime = _random.Next(2) == 0;
            DateTimeOffset at = states[commit].At;
            var restored = new SimulatedDisk(_random);
            BackupChainReport report = await BackupParts.RestoreAsync(
                restored, parts, i % 2 == 0 ? key : null, byTime ? null : commit, byTime ? at : null);
            long landed = byTime ? states.Last(state => state.Value.At <= at).Key : commit;
            Assert.Equal(landed, report.Commit);
            BackupParts.AssertHolds(restored, states[landed].Model, i % 2 == 0 ? key : null);
        }

        Assert.Equal(commits[^1], (await EnvironmentBackup.VerifyAsync(parts)).Commit);

        void Note(StorageEnvironment environment)
        {
            using ReadTransaction now = environment.BeginRead();
            states.TryAdd(now.TransactionId, (model.Copy(), clock.GetUtcNow())); // a command that changes nothing makes no commit
        }
    }

    [Fact]
    public async Task What_waits_for_the_archive_is_bounded_and_the_next_increment_closes_the_gap()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        environment.KeepLog(EnvironmentLog.MinBudgetBytes);
        environment.Write(Put);
        (byte[] full, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        for (int i = 0; i < 1500; i++)
            environment.Write(Put);
        environment.Checkpoint();
        EnvironmentLogState state = environment.GetLogState();
        Assert.True(state.IsKept && state.FilesGivenUp > 0);
        Assert.InRange(state.WaitingBytes, 1, EnvironmentLog.MinBudgetBytes + (4 * BackupParts.Options.MaxJournalFileBytes));
        Assert.InRange(
            environment.GetStatistics().JournalBytes, 1,
            EnvironmentLog.MinBudgetBytes + (8 * BackupParts.Options.MaxJournalFileBytes));
        var gap = await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.TakeLogAsync(environment, link));
        Assert.Equal(BackupPartFault.LogGap, gap.Fault);

        (byte[] increment, EnvironmentBackupLink next) = await BackupParts.TakeAsync(environment, link);
        environment.Write(Put);
        (byte[] log, EnvironmentBackupLink last) = await BackupParts.TakeLogAsync(environment, next);
        Assert.Equal(last.Commit, (await BackupParts.VerifyAsync(full, increment, log)).Commit);
        var missing = await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.VerifyAsync(full, log));
        Assert.Equal(BackupPartFault.LinkMissing, missing.Fault);
    }

    [Fact]
    public async Task What_is_archived_makes_room_and_what_is_not_kept_is_said_to_be_missing()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        environment.Write(Put);
        (_, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        Assert.Equal(
            BackupPartFault.LogGap,
            (await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.TakeLogAsync(environment, link))).Fault);
        environment.KeepLog(4 << 20);
        for (int round = 0; round < 8; round++)
        {
            for (int i = 0; i < 200; i++)
                environment.Write(Put);
            environment.Checkpoint();
            (_, link) = await BackupParts.TakeLogAsync(environment, link);
        }

        Assert.Equal(0, environment.GetLogState().FilesGivenUp);
        Assert.InRange(environment.GetLogState().WaitingBytes, 1, 4 << 20);
        environment.KeepLog(0);
        Assert.False(environment.GetLogState().IsKept);
        Assert.Equal(
            BackupPartFault.Foreign,
            (await Assert.ThrowsAsync<BackupPartException>(
                () => BackupParts.TakeAsync(environment, link with { Commit = link.Commit + 1 }))).Fault);
    }

    [Fact]
    public async Task A_change_of_keys_ends_the_log_and_the_next_increment_goes_on()
    {
        using EncryptionKey key = EncryptionKey.Generate(), next = EncryptionKey.Generate();
        using StorageEnvironment environment = StorageEnvironment.Open(
            new SimulatedDisk(_random).World(1), BackupParts.Options with { EncryptionKey = key });
        environment.KeepLog(4 << 20);
        environment.Write(Put);
        (byte[] full, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment, key: key);
        for (int i = 0; i < 20; i++)
            environment.Write(Put);
        (byte[] log, EnvironmentBackupLink logged) = await BackupParts.TakeLogAsync(environment, link, key);
        environment.Write(Put);
        environment.RotateDataKey(key);
        environment.ChangeKey(next);
        environment.Write(Put);
        var gap = await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.TakeLogAsync(environment, logged, key));
        Assert.Equal(BackupPartFault.LogGap, gap.Fault);
        (byte[] increment, EnvironmentBackupLink after) = await BackupParts.TakeAsync(environment, link, key);
        environment.Write(Put);
        (byte[] later, EnvironmentBackupLink last) = await BackupParts.TakeLogAsync(environment, after, key);
        BackupChainPart[] parts =
            [.. new[] { full, log, increment, later }.Select((bytes, index) => BackupParts.Part($"part-{index}", bytes, key))];
        var disk = new SimulatedDisk(_random);
        Assert.Equal(last.Commit, (await BackupParts.RestoreAsync(disk, parts, next)).Commit);
        using StorageEnvironment restored = StorageEnvironment.Open(
            disk.World(1), BackupParts.Options with { EncryptionKey = next });
        using (ReadTransaction read = restored.BeginRead())
            Assert.Equal(24, read.FindTree("t")?.Count);
        Assert.Empty(restored.Check().Problems);
    }

    [Fact]
    public async Task A_point_that_no_part_holds_is_refused()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        environment.KeepLog(4 << 20);
        for (int i = 0; i < 3; i++)
            environment.Write(Put);
        (byte[] full, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        environment.Write(Put);
        (byte[] log, EnvironmentBackupLink last) = await BackupParts.TakeLogAsync(environment, link);
        foreach (long commit in (long[])[link.Commit - 1, last.Commit + 1])
        {
            var refused = await Assert.ThrowsAsync<BackupPartException>(
                () => BackupParts.RestoreAsync(new SimulatedDisk(_random), BackupParts.Parts(full, log), stopAtCommit: commit));
            Assert.Equal(BackupPartFault.NoSuchPoint, refused.Fault);
        }

        Assert.Equal(
            BackupPartFault.LinkMissing,
            (await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.VerifyAsync(log))).Fault);
    }

    private bool Put(WriteTransaction transaction)
    {
        byte[] key = new byte[8], value = new byte[500];
        _random.NextBytes(key);
        _random.NextBytes(value);
        transaction.GetOrCreateTree("t").Put(key, value);
        return true;
    }
}
