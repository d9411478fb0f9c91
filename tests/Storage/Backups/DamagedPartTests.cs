using Treepie.Storage.Backups;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Backups;

/// <summary>
/// Parts that are damaged, truncated, reordered, mixed, missing or foreign must be refused with a specific error, leaving
/// nothing behind.
/// </summary>
public sealed class DamagedPartTests : IAsyncLifetime
{
    private readonly Random _random = new(Seed.Next());
    private readonly Model _model = new();
    private byte[] _full = [];
    private byte[] _first = [];
    private byte[] _second = [];
    private byte[] _log = [];
    private byte[] _laterLog = [];

    public async ValueTask InitializeAsync()
    {
        using StorageEnvironment environment = Open(new SimulatedDisk(_random));
        environment.KeepLog(4 << 20);
        Write(environment, 4, _model);
        (_full, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        Write(environment, 2, _model);
        (_first, EnvironmentBackupLink next) = await BackupParts.TakeAsync(environment, link);
        Write(environment, 2, _model);
        (_second, EnvironmentBackupLink third) = await BackupParts.TakeAsync(environment, next);
        Write(environment, 2, _model);
        (_log, EnvironmentBackupLink logged) = await BackupParts.TakeLogAsync(environment, third);
        Write(environment, 2, _model);
        (_laterLog, _) = await BackupParts.TakeLogAsync(environment, logged);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task A_flipped_byte_anywhere_is_noticed()
    {
        byte[][] parts = [_full, _first, _second, _log, _laterLog];
        await BackupParts.VerifyAsync(parts);
        for (int part = 0; part < parts.Length; part++)
        {
            int length = parts[part].Length;
            IEnumerable<int> places = Enumerable.Range(0, length)
                .Where(at => at < 200 || at >= length - 80 || at % (length / 150) == 0);
            foreach (int at in places)
            {
                byte[][] damaged = [.. parts];
                damaged[part] = [.. parts[part]];
                damaged[part][at] ^= (byte)(1 << _random.Next(8));
                var refused = await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.VerifyAsync(damaged));
                Assert.Contains("part-", refused.Message, StringComparison.Ordinal);
            }
        }
    }

    [Fact]
    public async Task A_part_that_ends_too_early_or_too_late_is_noticed()
    {
        for (int length = 0; length < _full.Length; length += Math.Max(1, _full.Length / 100))
        {
            var cut = await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.VerifyAsync(_full[..length]));
            Assert.Equal(BackupPartFault.CutOff, cut.Fault);
        }

        Assert.Equal(BackupPartFault.CutOff, await FaultOf(_full[..^1]));
        Assert.Equal(BackupPartFault.Appended, await FaultOf([.. _full, 0]));
        Assert.Equal(BackupPartFault.NotAPart, await FaultOf([.. "{\"Docs\":[]}"u8, .. new byte[200]]));
    }

    [Fact]
    public async Task Frames_that_change_places_or_parts_are_noticed()
    {
        List<Range> frames = Frames(_full), others = Frames(_first);
        Assert.True(frames.Count > 3);
        byte[] head = _full[..frames[0].Start.Value];
        Assert.Equal(
            BackupPartFault.FrameMisplaced,
            await FaultOf([.. head, .. _full[frames[1]], .. _full[frames[0]], .. _full[frames[2].Start..]]));
        Assert.Equal(BackupPartFault.FrameMisplaced, await FaultOf([.. head, .. _full[frames[1].Start..]]));
        Assert.Equal(BackupPartFault.FrameMisplaced, await FaultOf([.. head, .. _full[frames[0]], .. _full[frames[0].Start..]]));
        Assert.Equal(BackupPartFault.FrameForeign, await FaultOf([.. head, .. _first[others[0]], .. _full[frames[1].Start..]]));
    }

    [Fact]
    public async Task A_chain_with_a_part_missing_foreign_or_out_of_order_is_refused()
    {
        Assert.Equal(BackupPartFault.LinkMissing, await FaultOf(_first));
        Assert.Equal(BackupPartFault.LinkMissing, await FaultOf(_full, _second));
        Assert.Equal(BackupPartFault.LinkMissing, await FaultOf(_full, _first, _second, _laterLog));
        Assert.Equal(BackupPartFault.LinkMissing, await FaultOf(_full, _first, _log));
        Assert.Equal(BackupPartFault.OutOfOrder, await FaultOf(_full, _second, _first));
        Assert.Equal(BackupPartFault.OutOfOrder, await FaultOf(_full, _first, _second, _laterLog, _log));
        Assert.Equal(BackupPartFault.OutOfOrder, await FaultOf(_full, _first, _first));

        using StorageEnvironment other = Open(new SimulatedDisk(_random), 77);
        Write(other, 8, new Model());
        (byte[] foreign, EnvironmentBackupLink link) = await BackupParts.TakeAsync(other);
        Assert.Equal(BackupPartFault.Foreign, await FaultOf(_full, foreign));
        using StorageEnvironment third = Open(new SimulatedDisk(_random), 78);
        Assert.Equal(
            BackupPartFault.Foreign,
            (await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.TakeAsync(third, link))).Fault);
    }

    [Fact]
    public async Task An_increment_to_another_backup_of_the_same_commit_is_refused()
    {
        using StorageEnvironment environment = Open(new SimulatedDisk(_random));
        Write(environment, 3, new Model());
        (byte[] one, _) = await BackupParts.TakeAsync(environment);
        (_, EnvironmentBackupLink link) = await BackupParts.TakeAsync(environment);
        Write(environment, 1, new Model());
        (byte[] increment, _) = await BackupParts.TakeAsync(environment, link with { Hash = new string('0', 64) });
        Assert.Equal(BackupPartFault.Foreign, await FaultOf(one, increment));
    }

    [Fact]
    public async Task Nothing_is_left_of_a_restore_that_was_refused_and_it_can_be_done_again()
    {
        using var files = new TemporaryDirectory();
        string target = Path.Combine(files.Path, "target");
        byte[] damaged = [.. _full];
        damaged[^200] ^= 4;
        await Assert.ThrowsAsync<BackupPartException>(
            () => EnvironmentBackup.RestoreAsync(BackupParts.Parts(damaged, _first), target));
        Assert.Empty(Directory.GetFileSystemEntries(files.Path));
        Directory.CreateDirectory(target + ".unfinished");
        await File.WriteAllTextAsync(
            Path.Combine(target + ".unfinished", "data.treepie.new"), "left by a kill", TestContext.Current.CancellationToken);
        await EnvironmentBackup.RestoreAsync(BackupParts.Parts(_full, _first, _second, _log, _laterLog), target);
        using (StorageEnvironment restored = StorageEnvironment.Open(target))
        using (ReadTransaction read = restored.BeginRead())
            _model.AssertEqual(read);
        await Assert.ThrowsAsync<StorageException>(() => EnvironmentBackup.RestoreAsync(BackupParts.Parts(_full), target));
    }

    [Fact]
    public async Task A_disk_that_is_full_or_fails_while_restoring_says_so_and_can_be_used_again()
    {
        BackupChainPart[] parts = BackupParts.Parts(_full, _first, _second, _log, _laterLog);
        var whole = new SimulatedDisk(_random);
        await BackupParts.RestoreAsync(whole, parts);
        BackupParts.AssertHolds(whole, _model);
        for (int at = 0; at < whole.Operations; at += 1 + _random.Next(6))
        {
            var disk = new SimulatedDisk(_random);
            if (_random.Next(2) == 0)
                disk.FailAt = at;
            else
                disk.CapacityBytes = _random.Next(_full.Length);
            try
            {
                await BackupParts.RestoreAsync(disk, parts);
            }
            catch (Exception error) when (error is IOException or DiskFullException)
            {
                // Remains are deleted below, as a caller of restore does.
            }

            (disk.FailAt, disk.CapacityBytes) = (-1, long.MaxValue);
            foreach (string name in disk.List())
                if (name is not ("data.treepie.new" or "lock.treepie"))
                    disk.Delete(name);
            await BackupParts.RestoreAsync(disk, parts);
            BackupParts.AssertHolds(disk, _model);
        }
    }

    private static async Task<BackupPartFault> FaultOf(params byte[][] parts)
    {
        var refused = await Assert.ThrowsAsync<BackupPartException>(() => BackupParts.VerifyAsync(parts));
        return refused.Fault;
    }

    private static StorageEnvironment Open(SimulatedDisk disk, int seed = 1) =>
        StorageEnvironment.Open(disk.World(seed), BackupParts.Options);

    private static List<Range> Frames(byte[] part)
    {
        var frames = new List<Range>();
        for (int at = 96 + BitConverter.ToInt32(part, 12) + 4; at < part.Length;)
        {
            int length = 24 + BitConverter.ToInt32(part, at + 4);
            frames.Add(at..(at + length));
            at += length;
        }

        return frames;
    }

    private void Write(StorageEnvironment environment, int commits, Model model)
    {
        var workload = new Workload(_random, new WorkloadShape { Keys = 200, MaxSteps = 15, MaxValueBytes = 20_000 });
        for (int i = 0; i < commits; i++)
        {
            // A command may change nothing, and a missing part without commits is not noticed.
            long before = environment.GetStatistics().LastTransactionId;
            do
                environment.Write(workload.Next(model));
            while (environment.GetStatistics().LastTransactionId == before);
        }
    }
}
