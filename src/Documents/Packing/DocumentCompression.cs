using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Packing;

/// <summary>
/// Front door of the room: keeps documents compressed, each by itself, with a dictionary trained on its collection. New writes
/// are compressed before they are committed; older documents, and those that patches and imports write, are compressed in the
/// background in small durable steps. Readers see no difference. A collection is compressed once it holds some 64 KB to train
/// on. Thread-safe.
/// </summary>
/// <remarks>
/// Invariant: a body is packed with a dictionary that is durable, and dictionaries stay; so a run may be stopped or killed
/// anywhere, and what is configured may change at any time.
/// </remarks>
public sealed class DocumentCompression : IDisposable
{
    /// <summary>Time between two background runs.</summary>
    private static readonly TimeSpan _frequency = TimeSpan.FromSeconds(5);

    private readonly IWriteHost _host;
    private readonly BodyDictionaries _dictionaries;
    private readonly PeriodicRun _runs;
    private PackingPlan? _plan;
    private long _doneUpTo = -1;

    internal DocumentCompression(IWriteHost host, BodyDictionaries dictionaries)
    {
        _host = host;
        _dictionaries = dictionaries;
        _runs = new PeriodicRun(host.Options.TimeProvider, token => PackAllAsync(null, token));
        Apply();
    }

    /// <summary>Of which collections; null where nothing is configured.</summary>
    public DocumentCompressionConfiguration? Configuration
    {
        get
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return Read(snapshot);
        }
    }

    /// <summary>Why the last run in the background ended early; null where it did not.</summary>
    public Exception? LastError => _runs.LastError;

    /// <summary>Whether there may be something to compress.</summary>
    internal bool HasWork
    {
        get
        {
            if (!_runs.IsScheduled)
                return false;
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return snapshot.LastEtag != Volatile.Read(ref _doneUpTo);
        }
    }

    /// <summary>
    /// Sets the configuration, or removes it: documents that are compressed stay so until they are written again. Durable when
    /// this completes. Existing documents are compressed in the background, or by <see cref="RunAsync"/>.
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
    /// Compresses all documents that should be and are not, while others read and write. The data file does not become shorter:
    /// the freed pages are used by later writes.
    /// </summary>
    /// <param name="progress">Told after each durable step, on no particular thread.</param>
    /// <param name="cancellationToken">Ends it between two steps; what was done stays done.</param>
    public Task<CompressionReport> RunAsync(
        IProgress<CompressionReport>? progress = null, CancellationToken cancellationToken = default) =>
        _runs.NowAsync(
            token =>
            {
                Volatile.Write(ref _doneUpTo, -1);
                return PackAllAsync(progress, token);
            },
            cancellationToken);

    /// <summary>Ends what is at work, after the step it is in.</summary>
    public void Dispose() => _runs.Dispose();

    /// <summary>Packs what is to be written, on the thread of who writes it.</summary>
    internal void Pack(WriteBatch batch)
    {
        if (Volatile.Read(ref _plan) is { } plan)
            batch.Pack(plan.DictionaryOf);
    }

    /// <summary>Reads anew what is configured and trained.</summary>
    internal void Apply()
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        DocumentCompressionConfiguration? configuration = Read(snapshot);
        Volatile.Write(ref _plan, configuration is null ? null : PackingPlan.Of(snapshot, configuration, _dictionaries));
        Volatile.Write(ref _doneUpTo, -1);
        _runs.Schedule(configuration is null ? null : _frequency);
    }

    private static DocumentCompressionConfiguration? Read(DatabaseSnapshot snapshot) =>
        snapshot.Setting(DocumentCompressionConfiguration.SettingName) is { } json
            ? DocumentCompressionConfiguration.FromJson(json)
            : null;

    private async Task<CompressionReport> PackAllAsync(
        IProgress<CompressionReport>? progress, CancellationToken cancellationToken)
    {
        var report = new CompressionReport(0, 0, 0);
        long upTo;
        IReadOnlyList<CollectionStatistics> collections;
        using (DatabaseSnapshot snapshot = _host.BeginRead())
        {
            upTo = snapshot.LastEtag;
            if (upTo == Volatile.Read(ref _doneUpTo) || Read(snapshot) is not { } configuration)
                return report;
            collections = [.. snapshot.Collections().Where(collection => configuration.Includes(collection.Name))];
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

        Volatile.Write(ref _doneUpTo, upTo);
        return report;
    }
}
