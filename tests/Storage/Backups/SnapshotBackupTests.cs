using Treepie.Storage.Backups;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Backups;

/// <summary>A snapshot and its increments contain exactly the state when they were taken, whatever is written
/// meanwhile.</summary>
public sealed class SnapshotBackupTests
{
    private readonly Random _random = new(Seed.Next());

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public async Task A_backup_comes_back_as_it_was_plain_or_encrypted_on_either_side(
        bool isSourceEncrypted, bool isTargetEncrypted)
    {
        using EncryptionKey key = EncryptionKey.Generate(),
            backupKey = EncryptionKey.Generate(),
            targetKey = EncryptionKey.Generate();
        var model = new Model();
        using StorageEnvironment environment = Fill(new SimulatedDisk(_random), model, isSourceEncrypted ? key : null);
        (byte[] bytes, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment, key: backupKey);
        BackupChainPart[] parts = [BackupParts.Part("snapshot", bytes, backupKey)];
        BackupChainReport verified = await EnvironmentBackup.VerifyAsync(parts);
        var disk = new SimulatedDisk(_random);
        EncryptionKey? ofTarget = isTargetEncrypted ? targetKey : null;
        BackupChainReport restored = await BackupParts.RestoreAsync(disk, parts, ofTarget);
        Assert.Equal((link.Commit, link.Hash), (restored.Commit, restored.Hash));
        Assert.Equal(verified, restored);
        BackupParts.AssertHolds(disk, model, ofTarget);
    }

    [Fact]
    public async Task A_backup_of_an_encrypted_environment_is_sealed_or_says_that_it_is_not()
    {
        using var key = EncryptionKey.Generate();
        using StorageEnvironment environment = Fill(new SimulatedDisk(_random), new Model(), key);
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "a secret that nobody may read"u8));
        var refused = await Assert.ThrowsAsync<BackupPartException>(() => EnvironmentBackup.WriteAsync(environment, Stream.Null));
        Assert.Equal(BackupPartFault.PlainNotAllowed, refused.Fault);
        (byte[] bytes, _) = await BackupParts.TakeAsync(environment, key: key);
        Assert.True(bytes.AsSpan().IndexOf("a secret that nobody may read"u8) < 0);
        using var plain = new MemoryStream();
        await EnvironmentBackup.WriteAsync(environment, plain, new EnvironmentBackupOptions { AllowPlain = true });
        Assert.True(plain.ToArray().AsSpan().IndexOf("a secret that nobody may read"u8) > 0);
    }

    [Fact]
    public async Task Named_snapshots_and_what_they_keep_come_back_too()
    {
        var model = new Model();
        using StorageEnvironment environment = Fill(new SimulatedDisk(_random), model, null);
        var workload = new Workload(_random, new WorkloadShape { MaxValueBytes = 20_000 });
        environment.CreateSnapshot("first");
        Model first = model.Copy();
        for (int i = 0; i < 10; i++)
            environment.Write(workload.Next(model));
        environment.CreateSnapshot("gone");
        for (int i = 0; i < 10; i++)
            environment.Write(workload.Next(model));
        environment.Write(transaction => transaction.DropSnapshot("gone")); // later commits examine its pages
        (byte[] bytes, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        for (int i = 0; i < 10; i++)
            environment.Write(workload.Next(model));
        environment.CreateSnapshot("second");
        Model second = model.Copy();
        (byte[] increment, _) = await BackupParts.TakeAsync(environment, link);

        var disk = new SimulatedDisk(_random);
        await BackupParts.RestoreAsync(disk, BackupParts.Parts(bytes, increment));
        using (StorageEnvironment restored = StorageEnvironment.Open(disk.World(1), BackupParts.Options))
        {
            Assert.Equal(["first", "second"], restored.ListSnapshots().Select(snapshot => snapshot.Name));
            using (ReadTransaction read = restored.OpenSnapshot("first"))
                first.AssertEqual(read);
            using (ReadTransaction read = restored.OpenSnapshot("second"))
                second.AssertEqual(read);
            Assert.True(restored.DropSnapshot("first"));
            Assert.Empty(restored.Check().Problems);
        }

        BackupParts.AssertHolds(disk, model);
    }

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public async Task A_backup_under_full_write_load_is_exactly_one_commit(Durability durability)
    {
        using var files = new TemporaryDirectory();
        var states = new Dictionary<long, Model>();
        using StorageEnvironment environment = StorageEnvironment.Open(
            Path.Combine(files.Path, "source"), new StorageOptions { Durability = durability, ScratchBudgetBytes = 4 << 20 });
        using var stop = new CancellationTokenSource();
        Task writer = Task.Run(() => WriteOn(environment, states, stop.Token));
        var parts = new List<byte[]>();
        EnvironmentBackupLink? link = null;
        try
        {
            for (int i = 0; i < 6; i++)
            {
                long before = Last(states);
                await Eventually.TrueAsync(() => writer.IsCompleted || Last(states) > before + 5, "the writer writes");
                (byte[] bytes, link) = await BackupParts.TakeAsync(environment, link);
                parts.Add(bytes);
            }
        }
        finally
        {
            await stop.CancelAsync();
            await writer;
        }

        foreach (int count in (int[])[1, 3, 6])
        {
            string target = Path.Combine(files.Path, $"target-{count}");
            BackupChainReport report = await EnvironmentBackup.RestoreAsync(BackupParts.Parts([.. parts.Take(count)]), target);
            using StorageEnvironment restored = StorageEnvironment.Open(target);
            using ReadTransaction read = restored.BeginRead();
            Assert.Equal(report.Commit, read.TransactionId);
            states[report.Commit].AssertEqual(read);
        }

        Assert.Equal(
            ["source", "target-1", "target-3", "target-6"],
            Directory.GetFileSystemEntries(files.Path).Select(Path.GetFileName).Order());
    }

    [Fact]
    public async Task An_increment_has_the_pages_that_came_and_no_others()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("t");
            for (int i = 0; i < 20_000; i++)
                tree.Put(BitConverter.GetBytes(i), new byte[50]);
            return true;
        });
        (byte[] full, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        (byte[] nothing, EnvironmentBackupLink same) = await BackupParts.TakeAsync(environment, link);
        Assert.Equal(link.Commit, same.Commit);
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(1234), new byte[51]));
        (byte[] one, _) = await BackupParts.TakeAsync(environment, same);
        Assert.True(full.Length > 100 * 8192, $"{full.Length}");
        Assert.True(nothing.Length < 2 * 8192, $"{nothing.Length}");
        Assert.InRange(one.Length, 3 * 8192, 7 * 8192); // a leaf, one or two branches, the catalogue
        Assert.Equal(3, (await BackupParts.VerifyAsync(full, nothing, one)).Parts);
    }

    [Fact]
    public async Task A_store_with_a_damaged_page_is_left_out_of_a_part_that_holds_others()
    {
        using var files = new TemporaryDirectory();
        string damaged = Path.Combine(files.Path, "damaged");
        using StorageEnvironment whole = Fill(new SimulatedDisk(_random), new Model(), null);
        using (StorageEnvironment environment = StorageEnvironment.Open(damaged))
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("key"u8, new byte[3_000_000]));
        await using (FileStream file = File.OpenWrite(Path.Combine(damaged, "data.treepie")))
        {
            file.Position = 2_000_000;
            await file.WriteAsync(new byte[] { 1, 2, 3 }, TestContext.Current.CancellationToken);
        }

        using var part = new MemoryStream();
        using (StorageEnvironment environment = StorageEnvironment.Open(damaged))
        {
            using EnvironmentSnapshot first = EnvironmentSnapshot.Begin(whole), second = EnvironmentSnapshot.Begin(environment);
            var header = new BackupPartHeader
            {
                Kind = BackupPartKind.Snapshot,
                StoreId = first.StoreId,
                TakenAt = first.CommittedAt,
                Commit = first.Commit,
                Since = -1
            };
            using var writer = new BackupPartWriter(part, header);
            await first.WriteAsync(writer, "first");
            await Assert.ThrowsAsync<CorruptionException>(() => second.WriteAsync(writer, "second"));
            await second.GiveUpAsync(writer);
            await writer.CompleteAsync();
        }

        BackupChainReport report = await BackupParts.VerifyAsync(part.ToArray());
        Assert.Equal(1, report.Stores);
    }

    [Fact]
    public async Task An_empty_environment_comes_back_empty()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(new SimulatedDisk(_random).World(1), BackupParts.Options);
        (byte[] bytes, _) = await BackupParts.TakeAsync(environment);
        var disk = new SimulatedDisk(_random);
        await BackupParts.RestoreAsync(disk, BackupParts.Parts(bytes));
        BackupParts.AssertHolds(disk, new Model());
    }

    [Fact]
    public async Task A_backup_reads_in_the_memory_of_a_frame_and_can_be_cancelled()
    {
        using var files = new TemporaryDirectory();
        using var key = EncryptionKey.Generate();
        using StorageEnvironment environment = StorageEnvironment.Open(
            Path.Combine(files.Path, "source"), new StorageOptions { EncryptionKey = key, DecryptedBudgetBytes = 4 << 20 });
        for (int batch = 0; batch < 4; batch++)
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("t");
                for (int i = 0; i < 2000; i++)
                    tree.Put(BitConverter.GetBytes((batch * 2000) + i), new byte[2000]);
                return true;
            });
        environment.Checkpoint();
        long before = environment.GetStatistics().DecryptedBytes;
        var reports = new List<BackupPartProgress>();
        await EnvironmentBackup.WriteAsync(
            environment, Stream.Null, new EnvironmentBackupOptions { Key = key }, new Each(reports.Add));
        Assert.True(
            environment.GetStatistics().DecryptedBytes <= before + (1 << 20), "Pages that are backed up do not stay decrypted.");
        Assert.True(
            reports.Count > 10
                && reports[^1].Done == reports[^1].Total
                && reports.Zip(reports.Skip(1)).All(pair => pair.First.Done <= pair.Second.Done));

        using var stop = new CancellationTokenSource();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => EnvironmentBackup.WriteAsync(
            environment, Stream.Null, new EnvironmentBackupOptions { Key = key }, new Each(report => stop.CancelAsync().Wait()),
            stop.Token));
        Assert.Empty(environment.GetStatistics().Readers);
    }

    private static long Last(Dictionary<long, Model> states)
    {
        lock (states)
            return states.Count == 0 ? 0 : states.Keys.Max();
    }

    private StorageEnvironment Fill(SimulatedDisk disk, Model model, EncryptionKey? key)
    {
        StorageEnvironment environment = StorageEnvironment.Open(disk.World(1), BackupParts.Options with { EncryptionKey = key });
        var workload = new Workload(_random, new WorkloadShape());
        for (int i = 0; i < 40; i++)
        {
            environment.Write(workload.Next(model));
            if (i is 15 or 30)
                environment.Checkpoint();
        }

        return environment;
    }

    private void WriteOn(StorageEnvironment environment, Dictionary<long, Model> states, CancellationToken stop)
    {
        var workload = new Workload(new Random(_random.Next()), new WorkloadShape { Keys = 800, MaxValueBytes = 20_000 });
        var model = new Model();
        while (!stop.IsCancellationRequested && states.Count < 1000)
        {
            Func<WriteTransaction, bool> command = workload.Next(model);
            long id = environment.Write(transaction =>
            {
                command(transaction);
                return transaction.TransactionId;
            }, CancellationToken.None);
            lock (states)
                states[id] = model.Copy(); // a command that changes nothing makes no commit, and the next commit gets its number
        }
    }

    private sealed class Each(Action<BackupPartProgress> action) : IProgress<BackupPartProgress>
    {
        public void Report(BackupPartProgress value) => action(value);
    }
}
