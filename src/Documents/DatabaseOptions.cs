using System.Text.Json;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Queries;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie;

/// <summary>Settings and limits of a database. Immutable.</summary>
public sealed record DatabaseOptions
{
    /// <summary>Lowest value of <see cref="MaxDocumentBytes"/>: an empty object, 2.</summary>
    public const int LeastDocumentBytes = 2;

    /// <summary>Highest value of <see cref="MaxDocumentBytes"/>: 1 GiB.</summary>
    public const int MostDocumentBytes = 1 << 30;

    /// <summary>
    /// Highest value of <see cref="MaxDocumentDepth"/>: 1,000. What reads documents for indexes and queries goes little deeper.
    /// </summary>
    public const int MostDocumentDepth = 1_000;

    /// <summary>Highest value of <see cref="MaxIdBytes"/>, the file format's: 512.</summary>
    public const int MostIdBytes = DocumentId.MaxBytes;

    /// <summary>Lowest value of <see cref="DecryptedBudgetBytes"/>: 1 MiB.</summary>
    public const long LeastDecryptedBudgetBytes = 1 << 20;

    /// <summary>Name used in messages and in clients; null takes the directory's.</summary>
    public string? Name { get; init; }

    /// <summary>Longest document, in bytes of JSON as given. Default 32 MiB, at most 1 GiB.</summary>
    public int MaxDocumentBytes { get; init; } = 32 * 1024 * 1024;

    /// <summary>
    /// Deepest nesting of a document. Default 128, at most 1,000. Readers of documents need a depth limit of one more, for
    /// <c>@metadata</c>.
    /// </summary>
    public int MaxDocumentDepth { get; init; } = 128;

    /// <summary>Longest document id in UTF-8 bytes. 512 is the format's limit.</summary>
    public int MaxIdBytes { get; init; } = MostIdBytes;

    /// <summary>Longest content of an attachment in bytes. Default 8 GiB; it never is in memory as a whole.</summary>
    public long MaxAttachmentBytes { get; init; } = 8L << 30;

    /// <summary>Longest a query may run. Default 60 seconds.</summary>
    public TimeSpan MaxQueryTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Longest a query may wait for an index, and the default of such a wait. Default 15 seconds.</summary>
    public TimeSpan DefaultStaleWait { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>
    /// Most corners of all shapes of a query together, each counted as often as it is asked about. Default 50,000; one shape
    /// has at most 10,000. A query beyond it
    /// is refused before it is run.
    /// </summary>
    public int MaxShapeCorners { get; init; } = 50_000;

    /// <summary>
    /// Most rows that <c>select distinct</c> tells apart, each of which takes some 40 bytes until the answer is read.
    /// Default 1,000,000.
    /// </summary>
    public int MaxDistinctResults { get; init; } = 1_000_000;

    /// <summary>Orders of one's own, by the name that <c>order by custom(Field, 'Name')</c> gives. Default none.</summary>
    public IReadOnlyDictionary<string, ICustomOrder> CustomOrders { get; init; } = new Dictionary<string, ICustomOrder>();

    /// <summary>
    /// The key of an encrypted database; null for a plain one. A new database is encrypted, with all its indexes, if and only if
    /// one is given. It is used while opening and may be disposed afterwards. Who loses it loses the database. See
    /// <see cref="Encryption.KeySource"/> for keys from files, variables and commands.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>
    /// The analyzers that fields of indexes can name: those built in, and a program's own (<see cref="AnalyzerSet.With"/>). An
    /// index whose analyzer is missing is kept as it is and answers nothing until the database is opened with it.
    /// </summary>
    public AnalyzerSet Analyzers { get; init; } = AnalyzerSet.BuiltIn;

    /// <summary>
    /// Bytes of decrypted pages that an encrypted database keeps in memory, and as many for each of its indexes; beyond, those
    /// that were not used longest go first. Pages that are not in the file yet share them. What running transactions hold is
    /// beside it. Default 64 MiB, at least 1 MiB. Plain databases have none.
    /// </summary>
    public long DecryptedBudgetBytes { get; init; } = StorageOptions.DefaultMemoryBudgetBytes;

    /// <summary>How indexes are kept up with the documents: threads and budgets.</summary>
    public IndexingOptions Indexing { get; init; } = new();

    /// <summary>
    /// How sessions that say nothing else write objects; null: by reflection over public properties, with enumerations by name.
    /// Trimmed and natively compiled programs give the options of a source-generated context.
    /// </summary>
    public JsonSerializerOptions? Json { get; init; }

    /// <summary>
    /// What compiles scripts and maps that compute; null: texts that need it are refused. The package Treepie.Computing has one.
    /// </summary>
    public ComputingEngine? Computing { get; init; }

    /// <summary>The clock.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>
    /// Whether they are those of a database that is open and encrypted: then batches leave nothing in memory that others will
    /// use.
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
