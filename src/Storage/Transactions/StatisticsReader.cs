using Treepie.Storage.Format;
using Treepie.Storage.Journal;

namespace Treepie.Storage.Transactions;

/// <summary>Collects the statistics of an environment.</summary>
internal static class StatisticsReader
{
    public static StorageStatistics Read(
        EnvironmentState state, JournalFiles files, JournalWriter? journal, CheckpointRunner checkpoints,
        StoragePlatform platform)
    {
        IReadOnlyList<ReaderInfo> readers = state.Readers.Describe();
        Snapshot current = state.Current;
        return new StorageStatistics
        {
            DataFileBytes = state.Store.FileBytes,
            JournalBytes = files.TotalBytes,
            JournalSyncMethod = journal?.Method ?? JournalSyncMethod.NotChosen,
            JournalBytesWritten = journal?.BytesWritten ?? 0,
            JournalFramesWritten = journal?.FramesWritten ?? 0,
            JournalBytesSinceCheckpoint = journal?.BytesSinceCheckpoint ?? 0,
            ScratchBytes = state.Store.Scratch.BytesInUse,
            UnwrittenBytes = state.UnwrittenBytes,
            ScratchResidentBytes = state.Store.Scratch.ResidentBytes,
            SpilledBytes = state.Store.Scratch.SpilledBytes,
            FreePages = state.Space.FreeCount,
            LastTransactionId = current.TransactionId,
            OpenReaders = readers.Count,
            Readers = readers,
            BytesHeldByReaders = state.BytesHeldByReaders,
            NamedSnapshots = current.Named.All.Count,
            BytesHeldBySnapshots = current.Named.PinnedPages * PageLayout.SizeBytes,
            Checkpoints = checkpoints.Health.Count,
            SinceLastCheckpoint = checkpoints.Health.SinceLast,
            CheckpointFailures = checkpoints.Health.Failures,
            LastCheckpointError = checkpoints.LastError?.Message,
            IsWritingRefused = checkpoints.IsAtBound,
            WritingFault = state.Failure?.Message ?? (checkpoints.IsAtBound ? checkpoints.LastError?.Message : null),
            Scrub = state.Scrubber?.Describe(),
            RebuiltBitmapPages = state.Bitmaps.RebuiltPages,
            OldestReaderTransactionId = readers.Count == 0 ? null : readers[0].TransactionId,
            Platform = platform,
            IsEncrypted = state.Store.Decrypted is not null,
            DecryptedBytes = state.Store.Decrypted?.HeldBytes ?? 0,
            IsDecryptedMemoryLocked = state.Store.Decrypted is { IsLocked: true } && state.Store.Scratch.IsLocked,
        };
    }
}
