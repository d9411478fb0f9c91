using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.S3;

namespace Treepie.Server;

/// <summary>Settings and limits of the HTTP API. Read once, when it is mapped; a later change has no effect.</summary>
public sealed class TreepieServerOptions
{
    /// <summary>Directory that holds the databases, one folder each. Used by <c>MapTreepie()</c>. Default <c>./data</c>.</summary>
    public string DataDirectory { get; set; } = "data";

    /// <summary>Settings and limits of the databases that the server itself opens: document size, nesting, length of ids, query time.</summary>
    public DatabaseOptions Database { get; set; } = new();

    /// <summary>Where the keys of encrypted databases come from. Used by <c>MapTreepie()</c>. Default: they are given over HTTP after each start.</summary>
    public DatabaseKeySources Keys { get; set; } = DatabaseKeySources.None;

    /// <summary>
    /// Largest request body, in bytes. A larger one is answered 413. Default 128 MiB. A single document is limited by
    /// <see cref="DatabaseOptions.MaxDocumentBytes"/>; a bulk insert has no end and is limited document by document.
    /// </summary>
    public long MaxRequestBytes { get; set; } = 128L * 1024 * 1024;

    /// <summary>Most commands in one batch (<c>bulk_docs</c>), requests in one <c>multi_get</c>, ids in one load. Default 100,000.</summary>
    public int MaxCommandsPerRequest { get; set; } = 100_000;

    /// <summary>
    /// Longest a request may take, from its first byte to its last, streams and bulk inserts apart. Default two minutes. After it the work
    /// is cancelled and the answer is 408. A write that was handed to the disk by then may still become durable.
    /// </summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromMinutes(2);

    /// <summary>Longest a bulk insert may stay silent; its clients send a heartbeat every 40 seconds. Default five minutes.</summary>
    public TimeSpan BulkInsertIdleTimeout { get; set; } = TimeSpan.FromMinutes(5);

    /// <summary>Most requests at work at the same time. One more is answered 503 at once. Default 1,024.</summary>
    public int MaxConcurrentRequests { get; set; } = 1_024;

    /// <summary>Operations whose end is remembered for those who ask later. Default 1,000; the oldest is forgotten first.</summary>
    public int MaxRememberedOperations { get; set; } = 1_000;

    /// <summary>Kinds of places to which databases can be backed up, beside folders of this machine. Default: S3 and what is compatible with it.</summary>
    public IList<DestinationProvider> Destinations { get; } = [new S3DestinationProvider()];

    internal void Validate()
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(DataDirectory);
        ArgumentNullException.ThrowIfNull(Database);
        ArgumentNullException.ThrowIfNull(Keys);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(MaxRequestBytes);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxRequestBytes, Array.MaxLength);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(MaxCommandsPerRequest);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(RequestTimeout, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(BulkInsertIdleTimeout, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(MaxConcurrentRequests);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(MaxRememberedOperations);
    }
}
