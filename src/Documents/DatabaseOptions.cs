using System.Text.Json;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Queries;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie;

/// <summary>Options and limits of a database. Immutable.</summary>
public sealed record DatabaseOptions
{
    /// <summary>The minimum of <see cref="MaxDocumentBytes"/>: 2, an empty object.</summary>
    public const int LeastDocumentBytes = 2;

    /// <summary>The maximum of <see cref="MaxDocumentBytes"/>: 1 GiB.</summary>
    public const int MostDocumentBytes = 1 << 30;

    /// <summary>
    /// The maximum of <see cref="MaxDocumentDepth"/>: 1,000. Indexes and queries do not read documents much deeper than that.
    /// </summary>
    public const int MostDocumentDepth = 1_000;

    /// <summary>The maximum of <see cref="MaxIdBytes"/>: 512, the limit of the file format.</summary>
    public const int MostIdBytes = DocumentId.MaxBytes;

    /// <summary>The minimum of <see cref="DecryptedBudgetBytes"/>: 1 MiB.</summary>
    public const long LeastDecryptedBudgetBytes = 1 << 20;

    /// <summary>The name of the database in messages and for clients. Null: the name of the directory.</summary>
    public string? Name { get; init; }

    /// <summary>The maximum size of a document in bytes of JSON as given. Default: 32 MiB; at most 1 GiB.</summary>
    public int MaxDocumentBytes { get; init; } = 32 * 1024 * 1024;

    /// <summary>
    /// The maximum nesting depth of a document. Default: 128; at most 1,000. Readers of documents need a depth limit of one more,
    /// for <c>@metadata</c>.
    /// </summary>
    public int MaxDocumentDepth { get; init; } = 128;

    /// <summary>The maximum length of a document id in UTF-8 bytes. Default: 512, the limit of the file format.</summary>
    public int MaxIdBytes { get; init; } = MostIdBytes;

    /// <summary>
    /// The maximum size of an attachment in bytes. Default: 8 GiB. Attachments are never held in memory as a whole.
    /// </summary>
    public long MaxAttachmentBytes { get; init; } = 8L << 30;

    /// <summary>The maximum duration of a query. Default: 60 seconds.</summary>
    public TimeSpan MaxQueryTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>The maximum time that a query waits for an index, and the default of such a wait. Default: 15 seconds.</summary>
    public TimeSpan DefaultStaleWait { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// The age from which tombstones are deleted that no index and no backup task needs. Until then, readers of changes and
    /// increments of backups that are taken by hand find them.
    /// </summary>
    public TimeSpan TombstoneRetention { get; init; } = TimeSpan.FromDays(2);

    /// <summary>
    /// The maximum number of corners of all shapes of a query, each counted as often as its shape is used. Default: 50,000; one
    /// shape has at most 10,000. A query that exceeds it is rejected before it is executed.
    /// </summary>
    public int MaxShapeCorners { get; init; } = 50_000;

    /// <summary>
    /// The maximum number of distinct rows of <c>select distinct</c>; each uses about 40 bytes until the results have been read.
    /// Also the maximum number of groups of <c>from Orders (Freight > 10) group by City</c>, which are in memory as long.
    /// Default: 1,000,000.
    /// </summary>
    public int MaxDistinctResults { get; init; } = 1_000_000;

    /// <summary>
    /// Custom orderings, by the name used in <c>order by custom(Field, 'Name')</c>. Default: none.
    /// </summary>
    public IReadOnlyDictionary<string, ICustomOrder> CustomOrders { get; init; } = new Dictionary<string, ICustomOrder>();

    /// <summary>
    /// The key of an encrypted database; null for an unencrypted one. A new database is encrypted, with all its indexes, if and
    /// only if a key is given. The key is used only while opening and can be disposed afterwards. Without the key, the data is
    /// lost. For keys from files, variables and commands see <see cref="Encryption.KeySource"/>.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>
    /// The analyzers available to fields of indexes: the built-in ones and the program's own (<see cref="AnalyzerSet.With"/>). An
    /// index whose analyzer is missing is kept, but answers no queries until the database is opened with the analyzer.
    /// </summary>
    public AnalyzerSet Analyzers { get; init; } = AnalyzerSet.BuiltIn;

    /// <summary>
    /// The memory in bytes for decrypted pages of an encrypted database, and the same amount for each of its indexes; beyond it,
    /// the least recently used pages are evicted. Pages that are not in the file yet share it. Pages in use by running
    /// transactions are not counted. Default: 64 MiB; at least 1 MiB. Not used by unencrypted databases.
    /// </summary>
    public long DecryptedBudgetBytes { get; init; } = StorageOptions.DefaultMemoryBudgetBytes;

    /// <summary>Threads and budgets of indexing.</summary>
    public IndexingOptions Indexing { get; init; } = new();

    /// <summary>
    /// The default serializer options of sessions. Null: serializes public properties by reflection, with enumerations by name.
    /// Trimmed and AOT-compiled programs pass the options of a source-generated context.
    /// </summary>
    public JsonSerializerOptions? Json { get; init; }

    /// <summary>
    /// The engine that compiles scripts and computing maps, such as that of the package Treepie.Computing. Null: code that needs
    /// it is rejected.
    /// </summary>
    public ComputingEngine? Computing { get; init; }

    /// <summary>
    /// Called after each query, when its results have been read, on the thread that ends reading: for a log of slow queries. It
    /// must be fast and must not throw. Null: nothing is called.
    /// </summary>
    public Action<QueryExecution>? QueryExecuted { get; init; }

    /// <summary>The clock of the database.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>
    /// Whether these are the options of an open encrypted database: batches then zero their memory before it is reused.
    /// </summary>
    internal bool IsEncrypted { get; init; }

    internal void Validate()
    {
        Range(MaxDocumentBytes, LeastDocumentBytes, MostDocumentBytes, nameof(MaxDocumentBytes));
        Range(MaxDocumentDepth, 1, MostDocumentDepth, nameof(MaxDocumentDepth));
        Range(MaxIdBytes, 1, MostIdBytes, nameof(MaxIdBytes));
        Range(MaxShapeCorners, 1, int.MaxValue, nameof(MaxShapeCorners));
        Range(MaxDistinctResults, 1, int.MaxValue, nameof(MaxDistinctResults));
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxAttachmentBytes, 1, nameof(MaxAttachmentBytes));
        Indexing.Validate();
        if (DecryptedBudgetBytes < LeastDecryptedBudgetBytes)
            throw new ArgumentOutOfRangeException(
                nameof(DecryptedBudgetBytes), DecryptedBudgetBytes,
                $"{nameof(DecryptedBudgetBytes)} must be at least {LeastDecryptedBudgetBytes:N0}.");
    }

    private static void Range(int value, int least, int most, string option)
    {
        if (value < least || value > most)
            throw new ArgumentOutOfRangeException(option, value, $"{option} must be from {least:N0} to {most:N0}.");
    }
}
