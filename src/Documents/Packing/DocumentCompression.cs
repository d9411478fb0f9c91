using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Packing;

/// <summary>
/// Compresses documents individually, with a dictionary trained on their collection. New documents are compressed before they are
/// committed; existing ones, and those written by patches and imports, are compressed in the background in small durable steps.
/// Transparent to readers. A collection is compressed once it contains about 64 KB of documents to train on. Thread-safe.
/// </summary>
/// <remarks>
/// Invariant: a body is compressed only with a durable dictionary, and dictionaries are never deleted. So a run can be stopped or
/// killed at any point, and the configuration can change at any time.
/// </remarks>
public sealed class DocumentCompression : IDisposable
{
    /// <summary>The interval of background runs.</summary>
    private static readonly TimeSpan _frequency = TimeSpan.FromSeconds(5);

    private readonly IWriteHost _host;
    private readonly BodyDictionaries _dictionaries;
    private readonly PeriodicRun _runs;
    private readonly Lock _applying = new();
    private PackingPlan? _plan;
    private byte[]? _applied;
    private long _doneUpTo = -1;

    internal DocumentCompression(IWriteHost host, BodyDictionaries dictionaries)
    {
        _host = host;
        _dictionaries = dictionaries;
        _runs = new PeriodicRun(host.Options.TimeProvider, token => PackAllAsync(null, token));
        Apply();
    }

    /// <summary>The configuration; null if there is none.</summary>
    public DocumentCompressionConfiguration? Configuration
    {
        get
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return Read(snapshot);
        }
    }

    /// <summary>The exception that ended the last background run; null if it succeeded.</summary>
    public Exception? LastError => _runs.LastError;

    /// <summary>Whether there may be something to compress.</summary>
    internal bool HasWork
    {
        get
        {
            if (!_runs.IsScheduled)
                return false;
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return Read(snapshot) is { } configuration
                && LastEtagOf(CollectionsOf(snapshot, configuration)) != Volatile.Read(ref _doneUpTo);
        }
    }

    /// <summary>
    /// Sets or, with null, removes the configuration; completes when the change is durable. Existing documents are compressed in
    /// the background, or by <see cref="RunAsync"/>; compressed documents stay compressed until they are written again.
    /// </summary>
    public async Task ConfigureAsync(
        DocumentCompressionConfiguration? configuration, CancellationToken cancellationToken = default)
    {
        using var batch = new WriteBatch(_host.Options);
        await _host.WriteWithoutResultsAsync(
            batch.Setting(DocumentCompressionConfiguration.SettingName, configuration?.ToJson()), cancellationToken)
            .ConfigureAwait(false);
        Apply();
    }

    /// <summary>
    /// Compresses all documents that are configured to be compressed and are not yet, while others read and write. The data file
    /// does not shrink: freed pages are reused by later writes.
    /// </summary>
    /// <param name="progress">Receives the progress after each durable step, on an arbitrary thread.</param>
    /// <param name="cancellationToken">Cancels the operation between two steps; what was done is kept.</param>
    public Task<CompressionReport> RunAsync(
        IProgress<CompressionReport>? progress = null, CancellationToken cancellationToken = default) =>
        _runs.NowAsync(
            token =>
            {
                Volatile.Write(ref _doneUpTo, -1);
                return PackAllAsync(progress, token);
            },
            cancellationToken);

    /// <summary>Stops background runs after their current step.</summary>
    public void Dispose() => _runs.Dispose();

    /// <summary>Compresses a batch on the thread of its writer.</summary>
    internal void Pack(WriteBatch batch)
    {
        if (Volatile.Read(ref _plan) is { } plan)
            batch.Pack(plan.DictionaryOf);
    }

    /// <summary>Reloads the configuration and the dictionaries.</summary>
    internal void Apply()
    {
        lock (_applying) // read under it, so that an older configuration never replaces a newer one
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            byte[]? stored = Stored(snapshot);
            DocumentCompressionConfiguration? configuration = Read(snapshot);
            Volatile.Write(ref _plan, configuration is null ? null : PackingPlan.Of(snapshot, configuration, _dictionaries));
            if (!IsSame(stored, _applied))
                Volatile.Write(ref _doneUpTo, -1);
            _applied = stored;
            _runs.Schedule(configuration is null ? null : _frequency);
        }
    }

    private static IReadOnlyList<CollectionStatistics> CollectionsOf(
        DatabaseSnapshot snapshot, DocumentCompressionConfiguration configuration) =>
        [.. snapshot.Collections().Where(collection => configuration.Includes(collection.Name))];

    /// <summary>Returns the etag of the last change that may have left something to compress: not every write does.</summary>
    private static long LastEtagOf(IReadOnlyList<CollectionStatistics> collections) =>
        collections.Select(static collection => collection.LastEtag).DefaultIfEmpty().Max();

    private static bool IsSame(byte[]? one, byte[]? other) => one.AsSpan().SequenceEqual(other);

    private static byte[]? Stored(DatabaseSnapshot snapshot) => snapshot.Setting(DocumentCompressionConfiguration.SettingName);

    private static DocumentCompressionConfiguration? Read(DatabaseSnapshot snapshot) =>
        SettingReader.Read(snapshot, DocumentCompressionConfiguration.SettingName, DocumentCompressionConfiguration.FromJson);

    private async Task<CompressionReport> PackAllAsync(
        IProgress<CompressionReport>? progress, CancellationToken cancellationToken)
    {
        var report = new CompressionReport(0, 0, 0);
        long upTo;
        byte[]? stored;
        IReadOnlyList<CollectionStatistics> collections;
        using (DatabaseSnapshot snapshot = _host.BeginRead())
        {
            stored = Stored(snapshot);
            if (Read(snapshot) is not { } configuration)
                return report;
            collections = CollectionsOf(snapshot, configuration);
            upTo = LastEtagOf(collections);
            if (upTo == Volatile.Read(ref _doneUpTo))
                return report;
        }

        foreach (CollectionStatistics collection in collections)
        {
            if (await new DictionaryTraining(_host).RunAsync(collection, cancellationToken).ConfigureAwait(false))
                Apply();
            if (Volatile.Read(ref _plan)?.DictionaryOf(collection.Name) is not { } dictionary)
                continue;
            CompressionReport before = report;
            report = before + await new PackingRun(_host, collection.Name, dictionary)
                .RunAsync(step => progress?.Report(before + step), cancellationToken).ConfigureAwait(false);
        }

        lock (_applying)
            if (IsSame(stored, _applied)) // otherwise other collections may be due by now
                Volatile.Write(ref _doneUpTo, upTo);
        return report;
    }
}
