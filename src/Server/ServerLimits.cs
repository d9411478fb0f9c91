namespace Treepie.Server;

/// <summary>
/// Every bound of the HTTP API in one place: what a client can make grow, how far, and what answers the one who goes
/// further. Immutable. Bounds of documents and of single queries are those of <see cref="DatabaseOptions"/>.
/// </summary>
public sealed record ServerLimits
{
    /// <summary>
    /// Largest request body, in bytes; a larger one is answered 413. A single document is limited by
    /// <see cref="DatabaseOptions.MaxDocumentBytes"/>; a bulk insert has no end and is limited document by document. Default
    /// 128 MiB.
    /// </summary>
    public long MaxRequestBytes { get; init; } = 128L << 20;

    /// <summary>Largest body of a query, parameters included, in bytes; a larger one is answered 413. Default 16 MiB.</summary>
    public long MaxQueryBytes { get; init; } = 16L << 20;

    /// <summary>
    /// Bytes of request bodies, and of what they are parsed to, that all requests hold together; the request that would
    /// exceed it is answered 503. Memory is taken as bytes arrive, whatever length was announced. Default 512 MiB.
    /// </summary>
    public long MaxBufferedBytes { get; init; } = 512L << 20;

    /// <summary>
    /// Most commands in one batch (<c>bulk_docs</c>), requests in one <c>multi_get</c>, ids in one load; beyond: 413.
    /// Default 100,000.
    /// </summary>
    public int MaxCommandsPerRequest { get; init; } = 100_000;

    /// <summary>
    /// Longest a request may take, from its first byte to its last, streams and bulk inserts apart; beyond, the work is
    /// cancelled and the answer is 408. A write that was handed to the disk by then may still become durable. Default two
    /// minutes.
    /// </summary>
    public TimeSpan RequestTimeout { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>
    /// Most requests at work at a time, streams and bulk inserts apart, which have limits of their own; beyond: 503. Default
    /// 1,024.
    /// </summary>
    public int MaxConcurrentRequests { get; init; } = 1_024;

    /// <summary>Most of these of one client: an identity, or an address where there is none; beyond: 429. Default 768.</summary>
    public int MaxRequestsPerClient { get; init; } = 768;

    /// <summary>
    /// Queries that search or read results at a time; more wait their turn, the clients one after the other. Default two a
    /// core.
    /// </summary>
    public int MaxQueries { get; init; } = 2 * Environment.ProcessorCount;

    /// <summary>
    /// Most queries that wait for their first turn; beyond: 503. One client may fill half of the places; beyond: 429.
    /// Default 256.
    /// </summary>
    public int MaxQueuedQueries { get; init; } = 256;

    /// <summary>Longest a query waits for its first turn; beyond: 503. Default 30 seconds.</summary>
    public TimeSpan MaxQueryWait { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Most bulk inserts, imports and restores at a time; beyond: 503. Default 256.</summary>
    public int MaxBulkInserts { get; init; } = 256;

    /// <summary>Most of these of one client; beyond: 429. Default 64.</summary>
    public int MaxBulkInsertsPerClient { get; init; } = 64;

    /// <summary>
    /// Longest a bulk insert may take to send an item, or 64 KiB of one; beyond: 408. Its clients send a heartbeat, which is
    /// an item, every 40 seconds. Default five minutes.
    /// </summary>
    public TimeSpan BulkInsertIdleTimeout { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>
    /// Free bytes on the disk of the databases below which the server says that it is not ready (<c>/readyz</c>). Nothing is
    /// refused for it: a write that finds no room is. Default 256 MiB.
    /// </summary>
    public long LeastFreeDiskBytes { get; init; } = 256L << 20;

    /// <summary>Most streams of documents and of results, and exports, at a time; beyond: 503. Default 256.</summary>
    public int MaxStreams { get; init; } = 256;

    /// <summary>Most of these of one client; beyond: 429. Default 64.</summary>
    public int MaxStreamsPerClient { get; init; } = 64;

    /// <summary>
    /// Longest life of a stream, which keeps the state of its database that it reads; then it is cut off. Default one hour.
    /// </summary>
    public TimeSpan MaxStreamAge { get; init; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Longest the server waits for the reader of an answer to take a piece of 32 KiB; then the connection is cut off.
    /// Default 30 seconds.
    /// </summary>
    public TimeSpan StalledReaderTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Least rate at which an answer must be read, in bytes a second of the time the server waits for its reader, once that
    /// is longer than <see cref="StalledReaderTimeout"/>; a slower reader is cut off. Default 4,096.
    /// </summary>
    public long MinReadBytesPerSecond { get; init; } = 4_096;

    /// <summary>
    /// Most connections at a time; one more is closed as soon as it is accepted. 0, the default: half as many as the process
    /// may have open files, at most 100,000. Only in the server's own program.
    /// </summary>
    public int MaxConnections { get; init; }

    /// <summary>
    /// Longest a connection may stay without a request; then it is closed. Default two minutes. Only in the server's own
    /// program.
    /// </summary>
    public TimeSpan ConnectionIdleTimeout { get; init; } = TimeSpan.FromMinutes(2);

    /// <summary>
    /// How long nobody has used a database when it is closed; it opens again for the next request. One that expires, refreshes
    /// or archives documents, or whose indexes are behind, stays open. Default 15 minutes. Only in the server's own program.
    /// </summary>
    public TimeSpan DatabaseIdleTimeout { get; init; } = TimeSpan.FromMinutes(15);

    /// <summary>
    /// Longest the headers of a request may take; beyond: 408. Default 15 seconds. Only in the server's own program.
    /// </summary>
    public TimeSpan RequestHeadersTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// Operations whose end is remembered for those who ask later; the oldest is forgotten first. Default 1,000.
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
