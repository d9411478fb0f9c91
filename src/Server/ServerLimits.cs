namespace Treepie.Server;

/// <summary>
/// The limits of the HTTP API: what clients can make grow, how far, and the status code of requests that exceed a limit.
/// Immutable. Limits of documents and of single queries are those of <see cref="DatabaseOptions"/>.
/// </summary>
public sealed record ServerLimits
{
    /// <summary>
    /// The maximum size of a request body in bytes; beyond: 413. A single document is limited by
    /// <see cref="DatabaseOptions.MaxDocumentBytes"/>; a bulk insert has no total limit and is limited per document. Default: 128
    /// MiB.
    /// </summary>
    public long MaxRequestBytes { get; init; } = 128L << 20;

    /// <summary>The maximum size of a query, including parameters, in bytes; beyond: 413. Default: 16 MiB.</summary>
    public long MaxQueryBytes { get; init; } = 16L << 20;

    /// <summary>
    /// The maximum memory in bytes for the request bodies of all requests together, including what they are parsed to; beyond:
    /// 503. Memory is counted as bytes arrive, whatever length was announced. Default: 512 MiB.
    /// </summary>
    public long MaxBufferedBytes { get; init; } = 512L << 20;

    /// <summary>
    /// The maximum number of commands in a batch (<c>bulk_docs</c>), requests in a <c>multi_get</c>, or ids in a load; beyond:
    /// 413. Default: 100,000.
    /// </summary>
    public int MaxCommandsPerRequest { get; init; } = 100_000;

    /// <summary>
    /// The maximum duration of a request, from its first byte to its last, except streams and bulk inserts; beyond, the work is
    /// cancelled, and the status is 408. A write that has already been submitted may still become durable. Default: two minutes.
    /// </summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>
    /// The maximum number of concurrent requests, except streams and bulk inserts, which have limits of their own; beyond: 503.
    /// Default: 1,024.
    /// </summary>
    public int MaxConcurrentRequests { get; init; } = 1_024;

    /// <summary>
    /// The maximum number of concurrent requests per client (an identity, or an address if there is none); beyond: 429. Default:
    /// 768.
    /// </summary>
    public int MaxRequestsPerClient { get; init; } = 768;

    /// <summary>
    /// The maximum number of queries that search or read results concurrently; further queries wait, and the clients take turns.
    /// Default: two per core.
    /// </summary>
    public int MaxQueries { get; init; } = 2 * Environment.ProcessorCount;

    /// <summary>
    /// The maximum number of queries waiting to start; beyond: 503. One client may use half of them; beyond: 429. Default: 256.
    /// </summary>
    public int MaxQueuedQueries { get; init; } = 256;

    /// <summary>The maximum time that a query waits to start; beyond: 503. Default: 30 seconds.</summary>
    public TimeSpan MaxQueryWait { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>The maximum number of concurrent bulk inserts, imports and restores; beyond: 503. Default: 256.</summary>
    public int MaxBulkInserts { get; init; } = 256;

    /// <summary>
    /// The maximum number of concurrent bulk inserts, imports and restores per client; beyond: 429. Default: 64.
    /// </summary>
    public int MaxBulkInsertsPerClient { get; init; } = 64;

    /// <summary>
    /// The maximum time that a bulk insert may take to send an item, or 64 KiB of one, and that an import or an uploaded restore
    /// may send nothing; beyond: 408. Clients of bulk inserts send a heartbeat, which counts as an item, every 40 seconds.
    /// Default: five minutes.
    /// </summary>
    public TimeSpan BulkInsertIdleTimeout { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>
    /// The number of free bytes on the disk of the databases below which the server reports that it is not ready
    /// (<c>/readyz</c>). Requests are not rejected because of it, except writes for which there is no space. Default: 256 MiB.
    /// </summary>
    public long LeastFreeDiskBytes { get; init; } = 256L << 20;

    /// <summary>
    /// The maximum number of concurrent streams of documents or results, and exports; beyond: 503. Default: 256.
    /// </summary>
    public int MaxStreams { get; init; } = 256;

    /// <summary>The maximum number of concurrent streams and exports per client; beyond: 429. Default: 64.</summary>
    public int MaxStreamsPerClient { get; init; } = 64;

    /// <summary>
    /// The maximum duration of a stream, which holds a snapshot of its database; beyond, it is cut off. Default: one hour.
    /// </summary>
    public TimeSpan MaxStreamAge { get; init; } = TimeSpan.FromHours(1);

    /// <summary>
    /// The maximum time that the server waits for a client to read 32 KiB of a response; beyond, the connection is closed.
    /// Default: 30 seconds.
    /// </summary>
    public TimeSpan StalledReaderTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The minimum rate at which a response must be read, in bytes per second of the time that the server waits for the client,
    /// once that exceeds <see cref="StalledReaderTimeout"/>; below, the connection is closed. Default: 4,096.
    /// </summary>
    public long MinReadBytesPerSecond { get; init; } = 4_096;

    /// <summary>
    /// The maximum number of connections; further ones are closed immediately after they are accepted. 0, the default: half of
    /// the process's limit of open files, at most 100,000. Only in the stand-alone server.
    /// </summary>
    public int MaxConnections { get; init; }

    /// <summary>
    /// The time without requests after which a connection is closed. Default: two minutes. Only in the stand-alone server.
    /// </summary>
    public TimeSpan ConnectionIdleTimeout { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>
    /// The time without use after which a database is closed; it is opened again by the next request. A database that expires,
    /// refreshes or archives documents, or whose indexes are behind, stays open. Default: 15 minutes. Only in the stand-alone
    /// server.
    /// </summary>
    public TimeSpan DatabaseIdleTimeout { get; init; } = TimeSpan.FromMinutes(15);

    /// <summary>
    /// The maximum time for receiving the headers of a request; beyond: 408. Default: 15 seconds. Only in the stand-alone server.
    /// </summary>
    public TimeSpan RequestHeadersTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// The maximum number of completed operations whose result is kept; the oldest is removed first. Default: 1,000.
    /// </summary>
    public int MaxRememberedOperations { get; init; } = 1_000;

    internal void Validate()
    {
        Positive(MaxRequestBytes, nameof(MaxRequestBytes));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxRequestBytes, Array.MaxLength, nameof(MaxRequestBytes));
        Positive(MaxQueryBytes, nameof(MaxQueryBytes));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxQueryBytes, Array.MaxLength, nameof(MaxQueryBytes));
        Positive(MaxBufferedBytes, nameof(MaxBufferedBytes));
        Positive(MaxCommandsPerRequest, nameof(MaxCommandsPerRequest));
        Positive(RequestTimeout, nameof(RequestTimeout));
        Positive(MaxConcurrentRequests, nameof(MaxConcurrentRequests));
        Positive(MaxRequestsPerClient, nameof(MaxRequestsPerClient));
        Positive(MaxQueries, nameof(MaxQueries));
        Positive(MaxQueuedQueries, nameof(MaxQueuedQueries));
        Positive(MaxQueryWait, nameof(MaxQueryWait));
        Positive(MaxBulkInserts, nameof(MaxBulkInserts));
        Positive(MaxBulkInsertsPerClient, nameof(MaxBulkInsertsPerClient));
        Positive(BulkInsertIdleTimeout, nameof(BulkInsertIdleTimeout));
        Positive(LeastFreeDiskBytes, nameof(LeastFreeDiskBytes));
        Positive(MaxStreams, nameof(MaxStreams));
        Positive(MaxStreamsPerClient, nameof(MaxStreamsPerClient));
        Positive(MaxStreamAge, nameof(MaxStreamAge));
        Positive(StalledReaderTimeout, nameof(StalledReaderTimeout));
        Positive(MinReadBytesPerSecond, nameof(MinReadBytesPerSecond));
        ArgumentOutOfRangeException.ThrowIfNegative(MaxConnections);
        Positive(ConnectionIdleTimeout, nameof(ConnectionIdleTimeout));
        Positive(DatabaseIdleTimeout, nameof(DatabaseIdleTimeout));
        Positive(RequestHeadersTimeout, nameof(RequestHeadersTimeout));
        Positive(MaxRememberedOperations, nameof(MaxRememberedOperations));
    }

    private static void Positive(long value, string name) => ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value, name);

    private static void Positive(TimeSpan value, string name) =>
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(value, TimeSpan.Zero, name);
}
