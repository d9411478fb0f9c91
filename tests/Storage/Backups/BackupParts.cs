using Treepie.Storage.Backups;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Backups;

/// <summary>Backup parts in memory, and a simulated disk to restore them to.</summary>
internal static class BackupParts
{
    public static readonly StorageOptions Options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 2 << 20,
        FirstJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
    };

    /// <summary>A world with a simulated disk and no other threads.</summary>
    public static World World(this SimulatedDisk disk, int seed) =>
        new(disk, TimeProvider.System, new Random(seed), IsBackgroundAllowed: false);

    public static BackupChainPart Part(string name, byte[] bytes, EncryptionKey? key = null) =>
        EnvironmentBackup.Open(name, _ => ValueTask.FromResult<Stream>(new MemoryStream(bytes)), key);

    public static BackupChainPart[] Parts(params byte[][] parts) =>
        [.. parts.Select((bytes, index) => Part($"part-{index}", bytes))];

    /// <summary>Takes a snapshot or an increment.</summary>
    public static async Task<(byte[] Bytes, EnvironmentBackupLink Link)> TakeAsync(
        StorageEnvironment environment, EnvironmentBackupLink? since = null, EncryptionKey? key = null)
    {
        using var stream = new MemoryStream();
        EnvironmentBackupLink link = await EnvironmentBackup.WriteAsync(
            environment, stream, new EnvironmentBackupOptions { Since = since, Key = key });
        return (stream.ToArray(), link);
    }

    /// <summary>Takes a log backup.</summary>
    public static async Task<(byte[] Bytes, EnvironmentBackupLink Link)> TakeLogAsync(
        StorageEnvironment environment, EnvironmentBackupLink since, EncryptionKey? key = null)
    {
        using var stream = new MemoryStream();
        EnvironmentBackupLink link = await EnvironmentBackup.WriteLogAsync(
            environment, stream, new EnvironmentBackupOptions { Since = since, Key = key });
        return (stream.ToArray(), link);
    }

    /// <summary>Restores to a simulated disk.</summary>
    public static async Task<BackupChainReport> RestoreAsync(
        SimulatedDisk disk, IReadOnlyList<BackupChainPart> parts, EncryptionKey? key = null, long? stopAtCommit = null,
        DateTimeOffset? stopAtTime = null)
    {
        using BackupChain chain = await BackupChain.OpenAsync(
            parts, new BackupChainOptions { StopAtCommit = stopAtCommit, StopAtTime = stopAtTime });
        return await chain.ReadAsync(_ => EnvironmentRestore.Create(disk.World(1), key, Options.MaxDataFileBytes));
    }

    public static Task<BackupChainReport> VerifyAsync(params byte[][] parts) => EnvironmentBackup.VerifyAsync(Parts(parts));

    /// <summary>Fails unless the restored environment equals the model, can be written to, and is clean.</summary>
    public static void AssertHolds(SimulatedDisk disk, Model expected, EncryptionKey? key = null)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(disk.World(2), Options with { EncryptionKey = key });
        using (var read = environment.BeginRead())
            expected.AssertEqual(read);
        Assert.Empty(environment.Check().Problems);
        environment.Write(transaction => transaction.GetOrCreateTree("afterwards").Put([1], [2]));
        environment.Checkpoint();
        Assert.Empty(environment.Check().Problems);
    }
}
