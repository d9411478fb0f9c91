using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;
using Treepie.Indexing.Writing;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing;

/// <summary>
/// The writing door of an index: puts and removes entries, a batch at a time, in one storage transaction that also records
/// how far the index is. One thread at a time.
/// </summary>
/// <remarks>
/// Promises: after <see cref="Commit(IndexBatch, long, CancellationToken)"/> a new <see cref="IndexSearcher"/> sees the whole
/// batch and nothing else new; searchers opened before see none of it. Costs: memory for one batch, and work in proportion to the
/// batch, not to the index.
/// </remarks>
public sealed class IndexWriter
{
    private const int MinChangesToTidy = 4_096;

    private readonly StorageEnvironment _environment;
    private readonly FieldAnalyzers _analyzers;
    private CommitMemory _memory = new();
    private List<Backfill> _backfills;
    private long _changesSinceTidy;
    private Tidying? _tidying;
    private long _entryCount;
    private List<CompoundRecord> _compounds;

    /// <summary>By field: the numbers its vectors have, 0 where that is open.</summary>
    private readonly int[] _dimensions;

    /// <summary>
    /// Opens the index that lives in <paramref name="environment"/>, creating it with <paramref name="schema"/> if empty.
    /// </summary>
    /// <param name="environment">The index's own store.</param>
    /// <param name="schema">Its fields. More fields than it has are added to it, behind those: see <see cref="Pending"/>.</param>
    /// <param name="analyzerSet">The analyzers that the schema's fields may name; null: the built-in ones.</param>
    /// <param name="newFieldsAreEmpty">Whether no entry that is there has values of the fields that are added: nothing is pending
    /// then.</param>
    /// <exception cref="IndexSchemaException">
    /// The index exists with another schema, of which this one is no continuation, or in another format, or the schema names a
    /// field twice or an analyzer that does not exist.
    /// </exception>
    public IndexWriter(
        StorageEnvironment environment, IndexSchema schema, AnalyzerSet? analyzerSet = null, bool newFieldsAreEmpty = false)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(schema);
        SchemaRecord.Check(schema);
        _analyzers = new FieldAnalyzers(schema, analyzerSet ?? AnalyzerSet.BuiltIn);
        _environment = environment;
        Schema = schema;
        using ReadTransaction read = environment.BeginRead();
        Tree? index = read.FindTree(TreeNames.Index);
        LastEtag = IndexState.Read(index).Etag; // first, as it refuses other formats
        IndexSchema? existing = SchemaRecord.Read(index);
        _dimensions = [
            .. schema.Fields.Select(
                (field, number) => field.Analysis != FieldAnalysis.Vector ? 0 : Dimensions(read, number, field.Vector))];
        if (existing is null)
            environment.Write(Create);
        else if (existing.Fields.Count < schema.Fields.Count
            && existing.Fields.SequenceEqual(schema.Fields.Take(existing.Fields.Count)))
            environment.Write(transaction => Widen(transaction, newFieldsAreEmpty));
        else if (!existing.Fields.SequenceEqual(schema.Fields))
            throw new IndexSchemaException(Difference(existing, schema));
        using ReadTransaction now = environment.BeginRead();
        _backfills = BackfillRecord.Read(now.FindTree(TreeNames.Index));
        _compounds = CompoundRecord.Read(now.FindTree(TreeNames.Index));
    }

    /// <summary>The fields of this index.</summary>
    public IndexSchema Schema { get; }

    /// <summary>The etag recorded by the last batch, 0 for a new index.</summary>
    public long LastEtag { get; private set; }

    /// <summary>
    /// Fields that entries have yet to be given; null: none. While there are, batches hold only fields in front of them, and
    /// <see cref="CommitBackfill"/> gives the others to the entries that are there, in the order of their etags.
    /// </summary>
    public Backfill? Pending => _backfills.Count == 0 ? null : _backfills[0];

    /// <summary>
    /// Gives entries fields they have not. The batch names, in the order of their etags, entries put by earlier batches, with
    /// values of the <see cref="Pending"/> fields alone; a key that has no entry is passed over. Afterwards the batch is empty.
    /// </summary>
    /// <param name="batch">Values.</param>
    /// <param name="etag">Entries up to this etag have the fields now; with <see cref="LastEtag"/>, all have.</param>
    /// <param name="cancellationToken">Gives it up; nothing has changed then.</param>
    public void CommitBackfill(IndexBatch batch, long etag, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        batch.CheckClosed();
        Backfill reached = (Pending ?? throw new InvalidOperationException("No fields wait to be filled.")) with { Etag = etag };
        _environment.Write(
            transaction =>
            {
                BatchCommit.RunBackfill(transaction, Schema, batch, reached, _memory, cancellationToken);
                return true;
            },
            cancellationToken);
        _changesSinceTidy += batch.Count;
        batch.Clear();
        using ReadTransaction read = _environment.BeginRead();
        _backfills = BackfillRecord.Read(read.FindTree(TreeNames.Index));
    }

    /// <summary>Most compound keys of an index: each is another tree for every commit to keep.</summary>
    public const int MaxCompounds = 8;

    /// <summary>Whether a compound key has yet to be given entries that are there: <see cref="BuildCompounds"/>.</summary>
    public bool HasUnbuiltCompounds => _compounds.Exists(static one => !one.IsComplete);

    /// <summary>
    /// Adds a compound key, which <see cref="BuildCompounds"/> then fills. False, and nothing is changed, if the index has it or
    /// has <see cref="MaxCompounds"/>, if a field is missing or not one of whole values, or while fields wait to be filled.
    /// </summary>
    public bool TryAddCompound(CompoundKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        int equal = Schema.IndexOf(key.EqualField), order = Schema.IndexOf(key.OrderField);
        if (Pending is not null || _compounds.Count >= MaxCompounds || !IsOfWholeValues(equal) || !IsOfWholeValues(order)
            || _compounds.Exists(one => one.Equal == equal && one.Order == order && one.Kind == key.Order))
            return false;

        _compounds = _environment.Write(transaction =>
        {
            Tree index = transaction.GetOrCreateTree(TreeNames.Index);
            List<CompoundRecord> all = [.. CompoundRecord.Read(index), new CompoundRecord(equal, order, key.Order, 0)];
            CompoundRecord.Write(index, all);
            return all;
        });
        return true;
    }

    /// <summary>Gives some entries their compound keys, in one short commit.</summary>
    /// <returns>Whether there are more.</returns>
    public bool BuildCompounds(CancellationToken cancellationToken = default)
    {
        const int EntriesPerStep = 16_384;
        _compounds = _environment.Write(
            transaction => CompoundWriter.Build(transaction, EntriesPerStep, cancellationToken), cancellationToken);
        return HasUnbuiltCompounds;
    }

    private bool IsOfWholeValues(int field) =>
        field >= 0 && Schema.Fields[field].Analysis is (FieldAnalysis.LowerCaseKeyword or FieldAnalysis.Keyword);

    /// <summary>
    /// Whether so much was changed since it was opened or tidied that <see cref="Tidy"/> is worth its while: a quarter of the
    /// entries, and some thousand.
    /// </summary>
    public bool IsUntidy => _changesSinceTidy >= MinChangesToTidy && _changesSinceTidy >= _entryCount / 4;

    /// <summary>
    /// Makes the files small: pages are filled, and those that are free at the end are given back. It goes in short commits
    /// between which queries and other writes go on, and costs reading the whole index and writing a part of it.
    /// </summary>
    /// <param name="isWanted">Asked between two steps; once it says no, it ends, and the next call goes on from there.</param>
    /// <param name="cancellationToken">Ends it too.</param>
    /// <returns>Whether it came to the end.</returns>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public bool Tidy(Func<bool>? isWanted = null, CancellationToken cancellationToken = default)
    {
        _tidying ??= new Tidying(_environment);
        if (!_tidying.Run(isWanted ?? (static () => true), cancellationToken))
            return false;
        _tidying = null;
        _changesSinceTidy = 0;
        return true;
    }

    /// <summary>Forgets why entries were left out; may be called from any thread.</summary>
    public void ClearErrors() => _environment.Write(static transaction => transaction.DropTree(TreeNames.Errors));

    /// <summary>Looks whether an index with this schema can be written.</summary>
    /// <exception cref="IndexSchemaException">A field is named twice, or names an analyzer that does not exist; or another part
    /// of it is not valid.</exception>
    public static void Check(IndexSchema schema, AnalyzerSet analyzerSet)
    {
        ArgumentNullException.ThrowIfNull(schema);
        ArgumentNullException.ThrowIfNull(analyzerSet);
        SchemaRecord.Check(schema);
        _ = new FieldAnalyzers(schema, analyzerSet);
    }

    /// <summary>
    /// Whether a vector field does not know yet how many numbers its vectors have, because it has none: the first says it for all
    /// others, so entries with vectors are added one after the other, on one thread, until this says no.
    /// </summary>
    public bool AreDimensionsOpen =>
        Schema.Fields.Where((one, number) => one.Analysis == FieldAnalysis.Vector && Volatile.Read(ref _dimensions[number]) == 0)
            .Any();

    /// <summary>Gives up the memory that commits keep for the next.</summary>
    public void ReleaseMemory() => _memory = new CommitMemory();

    /// <summary>
    /// An empty batch to fill; reused after <see cref="Commit(IndexBatch, long, CancellationToken)"/>. May be called from any
    /// thread, and batches be filled by one thread each, see <see cref="IndexBatch.Append"/>.
    /// </summary>
    public IndexBatch BeginBatch() => new(Schema, _analyzers, _dimensions);

    /// <summary>Applies the batch and records <paramref name="etag"/>, all or nothing. Afterwards the batch is empty.</summary>
    /// <exception cref="InvalidOperationException">An entry of the batch was not ended.</exception>
    public void Commit(IndexBatch batch, long etag, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        Commit(batch, etag, static (_, _) => { }, cancellationToken);
    }

    /// <summary>
    /// As <see cref="Commit(IndexBatch, long, CancellationToken)"/>, where entries depend on what else lies in the store: both
    /// change in one transaction.
    /// </summary>
    /// <param name="batch">Entries.</param>
    /// <param name="etag">How far the index is with them.</param>
    /// <param name="prepare">Called first, in the transaction: may read and write trees of its own, whose names begin like no
    /// tree's of an index, and add to the batch. Where it is called again, nothing of what it did before is there.</param>
    /// <param name="cancellationToken">Gives it up; nothing has changed then.</param>
    public void Commit(
        IndexBatch batch, long etag, Action<WriteTransaction, IndexBatch> prepare, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        ArgumentNullException.ThrowIfNull(prepare);
        batch.CheckClosed();
        _entryCount = _environment.Write(
            transaction =>
            {
                prepare(transaction, batch);
                return BatchCommit.Run(transaction, Schema, batch, etag, _memory, cancellationToken);
            },
            cancellationToken);
        _changesSinceTidy += batch.Count;
        batch.Clear();
        LastEtag = etag;
    }

    private bool Create(WriteTransaction transaction)
    {
        Tree index = transaction.GetOrCreateTree(TreeNames.Index);
        SchemaRecord.Write(index, Schema);
        IndexState.Read(index).Write(index);
        return true;
    }

    private static int Dimensions(ReadTransaction read, int field, VectorFieldOptions? options)
    {
        int known = VectorState.Read(read.FindTree(TreeNames.Links(field))).Dimensions;
        return known > 0 ? known : options?.Dimensions ?? 0;
    }

    /// <summary>Adds the fields that are new. An index without entries has them complete.</summary>
    private bool Widen(WriteTransaction transaction, bool isComplete)
    {
        Tree index = transaction.GetOrCreateTree(TreeNames.Index);
        int known = SchemaRecord.Read(index)?.Fields.Count ?? 0;
        SchemaRecord.Write(index, Schema);
        if (!isComplete && IndexState.Read(index).EntryCount > 0)
            BackfillRecord.Write(index, [.. BackfillRecord.Read(index), new Backfill(known, Schema.Fields.Count, 0)]);
        return true;
    }

    private static string Difference(IndexSchema existing, IndexSchema wanted)
    {
        for (int i = 0; i < Math.Min(existing.Fields.Count, wanted.Fields.Count); i++)
        {
            if (existing.Fields[i] != wanted.Fields[i])
                return $"Field {i} of the index is {existing.Fields[i]}, the schema it is opened with says {wanted.Fields[i]}.";
        }

        return $"The index has {existing.Fields.Count} fields, the schema it is opened with has {wanted.Fields.Count}.";
    }
}
