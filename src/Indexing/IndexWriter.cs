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
/// Writes an index: puts and removes entries, one batch at a time, in a storage transaction that also records the progress of the
/// index. Not thread-safe.
/// </summary>
/// <remarks>
/// Guarantees: after <see cref="Commit(IndexBatch, long, CancellationToken)"/>, a new <see cref="IndexSearcher"/> sees exactly
/// the changes of the batch; searchers opened before see none of them. Costs: memory for one batch, and work in proportion to the
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

    private readonly FieldDimensions _dimensions;

    /// <summary>
    /// Opens the index in <paramref name="environment"/>; creates it with <paramref name="schema"/> if the environment is empty.
    /// </summary>
    /// <param name="environment">The store of the index.</param>
    /// <param name="schema">The fields of the index. Additional fields are appended to the existing ones; see
    /// <see cref="Pending"/>.</param>
    /// <param name="analyzerSet">The analyzers that fields of the schema may refer to. Null: the built-in ones.</param>
    /// <param name="newFieldsAreEmpty">Whether no existing entry has values of the added fields: nothing is pending then.</param>
    /// <exception cref="IndexSchemaException"> The index exists with a schema that this one does not extend, or in another
    /// format, or the schema contains a duplicate field or refers to an unknown analyzer.
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
        LastEtag = IndexState.Read(index).Etag; // first, because it rejects other formats
        IndexSchema? existing = SchemaRecord.Read(index);
        _dimensions = new FieldDimensions(
            [
                .. schema.Fields.Select(
                    (field, number) => field.Analysis != FieldAnalysis.Vector ? 0 : Dimensions(read, number, field.Vector))]);
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

    /// <summary>The etag recorded by the last batch; 0 for a new index.</summary>
    public long LastEtag { get; private set; }

    /// <summary>
    /// The fields that have not been added to all entries yet; null if there are none. While there are, batches contain only the
    /// fields before them, and <see cref="CommitBackfill"/> adds the others to the existing entries, in etag order.
    /// </summary>
    public Backfill? Pending => _backfills.Count == 0 ? null : _backfills[0];

    /// <summary>
    /// Adds fields to existing entries. The batch contains, in etag order, entries put by earlier batches, with values of the
    /// <see cref="Pending"/> fields only; keys without an entry are ignored. Afterwards the batch is empty.
    /// </summary>
    /// <param name="batch">The values.</param>
    /// <param name="etag">The etag up to which entries now have the fields; with <see cref="LastEtag"/>, all have.</param>
    /// <param name="cancellationToken">Cancels the operation; nothing has changed then.</param>
    /// <exception cref="InvalidOperationException">No fields are pending, or an entry of the batch was not ended.</exception>
    /// <exception cref="ArgumentException">The batch belongs to another index, or has values of other fields.</exception>
    public void CommitBackfill(IndexBatch batch, long etag, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        Backfill reached = (Pending ?? throw new InvalidOperationException("No fields are to be filled.")) with { Etag = etag };
        Check(batch, reached.FirstField, reached.EndField);
        _environment.Write(
            transaction =>
            {
                BatchCommit.RunBackfill(transaction, Schema, batch, reached, _memory, cancellationToken);
                return true;
            },
            cancellationToken);
        _changesSinceTidy += batch.Count;
        Empty(batch);
        using ReadTransaction read = _environment.BeginRead();
        _backfills = BackfillRecord.Read(read.FindTree(TreeNames.Index));
    }

    /// <summary>The maximum number of compound keys of an index: each is another tree that every commit updates.</summary>
    public const int MaxCompounds = 8;

    /// <summary>Whether existing entries are still to be added to a compound key: see <see cref="BuildCompounds"/>.</summary>
    public bool HasUnbuiltCompounds => _compounds.Exists(static one => !one.IsComplete);

    /// <summary>
    /// Adds a compound key, which <see cref="BuildCompounds"/> then fills. Returns false and changes nothing if the index has it
    /// or has <see cref="MaxCompounds"/>, if a field does not exist or is not a whole-value field, or while fields are being
    /// added.
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

    /// <summary>Adds some entries to their compound keys, in one short commit.</summary>
    /// <returns>Whether more entries remain.</returns>
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
    /// Whether enough has changed since opening or the last <see cref="Tidy"/> that calling it is worthwhile: a quarter of the
    /// entries, and several thousand.
    /// </summary>
    public bool IsUntidy => _changesSinceTidy >= MinChangesToTidy && _changesSinceTidy >= _entryCount / 4;

    /// <summary>
    /// Compacts the files: fills pages, and returns free pages at the end. Works in short commits between which queries and other
    /// writes continue; reads the whole index and writes a part of it.
    /// </summary>
    /// <param name="isWanted">Called between two steps; if it returns false, the method returns, and the next call continues from
    /// there.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>Whether it was completed.</returns>
    /// <exception cref="OperationCanceledException">The operation was cancelled.</exception>
    public bool Tidy(Func<bool>? isWanted = null, CancellationToken cancellationToken = default)
    {
        _tidying ??= new Tidying(_environment);
        if (!_tidying.Run(isWanted ?? (static () => true), cancellationToken))
            return false;
        _tidying = null;
        _changesSinceTidy = 0;
        return true;
    }

    /// <summary>Deletes the errors of entries that were left out; may be called from any thread.</summary>
    public void ClearErrors() => _environment.Write(static transaction => transaction.DropTree(TreeNames.Errors));

    /// <summary>Validates a schema.</summary>
    /// <exception cref="IndexSchemaException">A field is duplicated or refers to an unknown analyzer, or another part of the
    /// schema is not valid.</exception>
    public static void Check(IndexSchema schema, AnalyzerSet analyzerSet)
    {
        ArgumentNullException.ThrowIfNull(schema);
        ArgumentNullException.ThrowIfNull(analyzerSet);
        SchemaRecord.Check(schema);
        _ = new FieldAnalyzers(schema, analyzerSet);
    }

    /// <summary>
    /// Whether the number of dimensions of a vector field is not determined yet, because it has no vectors: the first one
    /// determines it, so entries with vectors must be added sequentially, on one thread, until this returns false.
    /// </summary>
    public bool AreDimensionsOpen =>
        Schema.Fields.Where((one, number) => one.Analysis == FieldAnalysis.Vector && _dimensions[number] == 0).Any();

    /// <summary>Releases the memory that commits keep for the next one.</summary>
    public void ReleaseMemory() => _memory = new CommitMemory();

    /// <summary>
    /// Creates an empty batch; it can be reused after <see cref="Commit(IndexBatch, long, CancellationToken)"/>. May be called
    /// from any thread; each batch is filled by one thread, see <see cref="IndexBatch.Append"/>.
    /// </summary>
    public IndexBatch BeginBatch() => new(Schema, _analyzers, _dimensions);

    /// <summary>Commits the batch and records <paramref name="etag"/>, atomically. Afterwards the batch is empty.</summary>
    /// <exception cref="InvalidOperationException">An entry of the batch was not ended.</exception>
    /// <exception cref="ArgumentException">The batch belongs to another index, or has values of <see cref="Pending"/> fields.
    /// </exception>
    public void Commit(IndexBatch batch, long etag, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        Commit(batch, etag, static (_, _) => { }, cancellationToken);
    }

    /// <summary>
    /// Same as <see cref="Commit(IndexBatch, long, CancellationToken)"/>, for entries that depend on other data in the store:
    /// both change in one transaction.
    /// </summary>
    /// <param name="batch">The entries.</param>
    /// <param name="etag">The etag up to which the index is complete with them.</param>
    /// <param name="prepare">Called first, in the transaction. It may read and write trees of its own, whose names must not start
    /// like those of an index, and add to the batch. If it is called again, its previous changes have been undone.</param>
    /// <param name="cancellationToken">Cancels the operation; nothing has changed then.</param>
    public void Commit(
        IndexBatch batch, long etag, Action<WriteTransaction, IndexBatch> prepare, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        ArgumentNullException.ThrowIfNull(prepare);
        int endField = Pending?.FirstField ?? Schema.Fields.Count;
        Check(batch, 0, endField);
        _entryCount = _environment.Write(
            transaction =>
            {
                prepare(transaction, batch);
                Check(batch, 0, endField); // it may have added values
                return BatchCommit.Run(transaction, Schema, batch, etag, _memory, cancellationToken);
            },
            cancellationToken);
        _changesSinceTidy += batch.Count;
        Empty(batch);
        LastEtag = etag;
    }

    /// <summary>Checks that a batch is complete, is of this index, and has values of the fields of a range only.</summary>
    private void Check(IndexBatch batch, int firstField, int endField)
    {
        batch.CheckClosed();
        if (batch.Schema != Schema && !batch.Schema.Fields.SequenceEqual(Schema.Fields))
            throw new ArgumentException(
                "The batch is of another index, which has other fields. Create it with BeginBatch of the writer that commits it.",
                nameof(batch));
        List<int> used = batch.UsedFields;
        if (used.Count == 0 || (used[0] >= firstField && used[^1] < endField))
            return;
        string name = Schema.Fields[used[0] < firstField ? used[0] : used[^1]].Name;
        throw new ArgumentException(
            endField <= used[^1] && firstField == 0
                ? $"The field '{name}' is still being added to existing entries: its values come with CommitBackfill."
                : $"The field '{name}' is not one of those that are being added now, {firstField} to {endField - 1}.",
            nameof(batch));
    }

    /// <summary>Clears a batch after its commit.</summary>
    private void Empty(IndexBatch batch)
    {
        if (batch.VectorFields.Count > 0)
        {
            using ReadTransaction read = _environment.BeginRead();
            foreach (int field in batch.VectorFields)
                _dimensions.Store(field, Dimensions(read, field, Schema.Fields[field].Vector));
        }

        batch.Clear();
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

    /// <summary>Adds the new fields. If the index has no entries, they are complete at once.</summary>
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
