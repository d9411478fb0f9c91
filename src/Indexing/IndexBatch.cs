using Treepie.Indexing.Analysis;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Vectors;
using Treepie.Indexing.Writing;

namespace Treepie.Indexing;

/// <summary>
/// A batch of entries to put and keys to remove, in order; a later operation on a key replaces an earlier one. A field may be
/// given several values (an array). Fields are identified by their position in the schema. Not thread-safe.
/// </summary>
/// <remarks>
/// Text is analyzed when it is added; a batch contains terms, not values. An entry is sorted by the first value of a field that
/// is not null. Values may have any length: terms of more than 512 bytes are stored in the dictionary in a truncated form that is
/// exact for equality, and the whole texts are stored beside it for sorting.
/// </remarks>
public sealed class IndexBatch
{
    /// <summary>The maximum length of an entry's key in bytes.</summary>
    public const int MaxKeyBytes = 512;

    /// <summary>Largest buffer kept for the next batch. Sufficient for a batch within the usual budget.</summary>
    private const int KeepBytes = 16 << 20;

    /// <summary>
    /// Weight of a vector in addition to its numbers, which stands for the work of linking it: a batch of 16 MiB has at most
    /// a thousand vectors, whose neighbors are found in about a second.
    /// </summary>
    private const int VectorWorkBytes = 16 * 1024;

    /// <summary>Memory of a distinct term and of a distinct key, in addition to their bytes.</summary>
    internal const int BytesOfTerm = 40, BytesOfKey = 48;

    private readonly IndexSchema _schema;
    private readonly FieldDimensions _dimensions;
    private readonly BatchField?[] _fields;
    private readonly Func<int, BatchField> _fieldOf;
    private readonly List<int> _usedFields = [];
    private readonly TermTable _keys = new();
    private readonly List<int> _lastOfKey = [];
    private readonly List<BatchEntry> _entries = [];
    private readonly ByteArena _records = new();
    private readonly List<BatchTouch> _touched = [];
    private readonly FieldAnalyzers _analyzers;
    private readonly BatchSink _sink;
    private readonly TokenBuffer _tokens = new();
    private readonly byte[] _cutScratch = new byte[TermForm.CutBytes];
    private readonly Dictionary<int, EntryError> _errors = [];
    private readonly List<int> _vectorFieldsOfEntry = [];
    private BatchAppend? _append;
    private long _vectorWorkBytes;
    private int _openKey = -1;

    internal IndexBatch(IndexSchema schema, FieldAnalyzers analyzers, FieldDimensions dimensions)
    {
        _dimensions = dimensions;
        _schema = schema;
        _analyzers = analyzers;
        _sink = new BatchSink(this);
        _fields = new BatchField?[schema.Fields.Count];
        _fieldOf = Field;
    }

    /// <summary>The number of puts and removals in the batch.</summary>
    public int Count { get; private set; }

    /// <summary>
    /// The approximate native and managed memory of the batch, in bytes; the caller commits when its budget is reached.
    /// </summary>
    public long SizeBytes { get; private set; }

    /// <summary>
    /// <see cref="SizeBytes"/> without the part that accounts for finding neighbours of vectors: the memory actually held.
    /// </summary>
    public long HeldBytes => SizeBytes - _vectorWorkBytes;

    /// <summary>The fields of the index for which the batch was created.</summary>
    internal IndexSchema Schema => _schema;

    internal List<BatchEntry> Entries => _entries;

    internal TermTable Keys => _keys;

    /// <summary>Maps the ordinal of a key to its last entry, or to -1 if the key is deleted at the end of the batch.</summary>
    internal List<int> LastOfKey => _lastOfKey;

    /// <summary>Fields that occur in any entry, in ascending order.</summary>
    internal List<int> UsedFields => _usedFields;

    internal ByteArena Records => _records;

    /// <summary>Vector fields whose number of dimensions the vectors of this batch determine, or rely on.</summary>
    internal List<int> VectorFields { get; } = [];

    /// <summary>Stored values of entries.</summary>
    internal StoredValues Stored { get; } = new();

    /// <summary>Maps the ordinal of a key to the error because of which its entry was left out.</summary>
    internal Dictionary<int, EntryError> Errors => _errors;

    private int Owner => _openKey >= 0
        ? _entries.Count
        : throw new InvalidOperationException("A value belongs to an entry: call BeginEntry first.");

    /// <summary>
    /// Starts the entry of <paramref name="key"/> (1 to 512 bytes of UTF-8), which replaces an existing entry with that key.
    /// </summary>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    /// <exception cref="InvalidOperationException">The previous entry was not ended.</exception>
    public void BeginEntry(ReadOnlySpan<byte> key)
    {
        _openKey = Intern(key);
        _touched.Clear();
        _vectorFieldsOfEntry.Clear();
    }

    /// <summary>Adds a text value (UTF-8), which the field's analyzer splits into terms.</summary>
    /// <remarks>
    /// Exceptions of a custom analyzer are propagated, and nothing of the value is added; the field nevertheless exists in the
    /// entry.
    /// </remarks>
    public void AddText(int field, ReadOnlySpan<byte> utf8)
    {
        int owner = Owner;
        RequireValues(field);
        BatchField target = Begin(field, owner);
        FieldAnalysis analysis = _schema.Fields[field].Analysis;
        if (analysis == FieldAnalysis.FullText)
        {
            AddWords(target, field, owner, utf8);
            return;
        }

        ReadOnlySpan<byte> whole = WholeValue.Normalize(analysis, utf8, _tokens);
        ReadOnlySpan<byte> form = TermForm.Of(whole, _cutScratch);
        AddTerm(target, field, owner, form, out int ordinal);
        if (TermForm.IsCut(form) && target.LongTexts.TryAdd(ordinal, whole.ToArray()))
            SizeBytes += whole.Length;
        AddSortValue(target, owner, SortTag.Text, ordinal);
        _tokens.Trim(KeepBytes);
    }

    /// <summary>
    /// Adds a value that exists but equals nothing, such as an object: no condition on texts or numbers matches it, and it sorts
    /// after all texts.
    /// </summary>
    public void AddOpaque(int field)
    {
        int owner = Owner;
        RequireValues(field);
        BatchField target = Begin(field, owner);
        if (_schema.Fields[field].Analysis == FieldAnalysis.FullText)
        {
            _touched.Add(new BatchTouch(field, EntryGroup.Kept, BatchTouch.NoTerm));
            return;
        }

        AddTerm(target, field, owner, TermForm.NoText, out int ordinal);
        AddSortValue(target, owner, SortTag.Text, ordinal);
    }

    /// <summary>Adds a number.</summary>
    public void AddLong(int field, long value)
    {
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        NumberKey.Write(key, value);
        AddNumber(field, key);
    }

    /// <summary>Adds a number; NaN is added as null.</summary>
    public void AddDouble(int field, double value)
    {
        if (double.IsNaN(value))
        {
            AddNull(field);
            return;
        }

        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        NumberKey.Write(key, value);
        AddNumber(field, key);
    }

    /// <summary>Adds <c>true</c> or <c>false</c>.</summary>
    public void AddBoolean(int field, bool value) => AddText(field, value ? "true"u8 : "false"u8);

    /// <summary>Adds a point to a spatial field, in degrees.</summary>
    /// <exception cref="InvalidGeometryException">A coordinate is not a number or out of range; nothing is added.</exception>
    /// <exception cref="InvalidOperationException">The field is not spatial.</exception>
    public void AddPoint(int field, double latitude, double longitude)
    {
        GeoPoint point = GeoPoint.Of(latitude, longitude);
        RequireSpatial(field);
        AddPlace(field, GridPoint.Of(point), null);
    }

    /// <summary>Adds a shape to a spatial field.</summary>
    /// <exception cref="InvalidOperationException">The field is not spatial.</exception>
    public void AddShape(int field, Geometry shape)
    {
        ArgumentNullException.ThrowIfNull(shape);
        RequireSpatial(field);
        if (shape.IsPoint)
            AddPlace(field, GridPoint.Of(new GeoPoint(shape.Points[0].Y, shape.Points[0].X)), null);
        else
            AddPlace(field, default, GeometryRecord.Encode(shape));
    }

    /// <summary>
    /// Adds a vector to a vector field. The cost of finding its neighbours is included in <see cref="SizeBytes"/>, so that
    /// committing a batch within a budget takes a bounded time.
    /// </summary>
    /// <exception cref="InvalidVectorException">The vector is empty, has another number of dimensions than previous ones, or
    /// contains an infinity or NaN; nothing is added.</exception>
    /// <exception cref="InvalidOperationException">The field is not a vector field.</exception>
    public void AddVector(int field, ReadOnlySpan<float> vector)
    {
        int owner = Owner;
        if (AnalysisOf(field) != FieldAnalysis.Vector)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' has no vectors.");
        int dimensions = _dimensions[field];
        bool isFirst = !_vectorFieldsOfEntry.Contains(field);
        Similarity.Check(vector, dimensions > 0 || isFirst ? dimensions : Field(field).Vectors[^1].Numbers.Length);
        BatchField target = Begin(field, owner);
        if (isFirst)
        {
            _vectorFieldsOfEntry.Add(field);
            _touched.Add(new BatchTouch(field, EntryGroup.Kept, BatchTouch.NoTerm));
        }

        target.Vectors.Add((owner, vector.ToArray()));
        SizeBytes += (vector.Length * sizeof(float)) + VectorWorkBytes;
        _vectorWorkBytes += VectorWorkBytes;
    }

    /// <summary>Adds an explicit null: the field exists but has no value.</summary>
    public void AddNull(int field)
    {
        int owner = Owner;
        BatchField target = Begin(field, owner);
        if (target.Nulls.Count == 0 || target.Nulls[^1] != owner)
        {
            target.Nulls.Add(owner);
            target.IsInexact |= target.SortValues.Count > 0 && target.SortValues[^1].Owner == owner;
            _touched.Add(new BatchTouch(field, EntryGroup.Null, 0));
        }
    }

    /// <summary>
    /// Reports that the value of the current entry in a field does not follow from its number, as that of a number in an array
    /// does not. From then on, <see cref="IndexSearcher.SearchDistinct"/> does not answer for the field.
    /// </summary>
    public void NoteInexact(int field) => Begin(field, Owner).IsInexact = true;

    /// <summary>
    /// Stores bytes with the entry, which <see cref="SearchResults.Stored"/> returns; they are not indexed. Slot numbers must be
    /// ascending.
    /// </summary>
    public void AddStored(int slot, ReadOnlySpan<byte> value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(slot);
        Stored.Add(Owner, slot, value);
        SizeBytes += value.Length + 8;
    }

    /// <summary>Ends the entry.</summary>
    public void EndEntry()
    {
        End();
        // Only now: an entry that fails determines nothing.
        foreach (int field in _vectorFieldsOfEntry)
            HoldDimensions(field, Field(field).Vectors[^1].Numbers.Length);
    }

    private void End()
    {
        int owner = Owner;
        int start = _records.Length;
        ReadOnlySpan<byte> key = _keys[_openKey];
        _records.AddVarint(key.Length);
        _records.Add(key);
        for (int first = 0; first < _touched.Count;)
            first = BatchRecord.WriteGroup(_records, _touched, first, _schema, _fieldOf);

        SizeBytes += _records.Length - start + 64;
        _entries.Add(new BatchEntry(_openKey, start, _records.Length - start));
        _lastOfKey[_openKey] = owner;
        _openKey = -1;
        Count++;
    }

    /// <summary>
    /// Ends the entry as failed: its key has no entry, and the error is kept in the index until the key is put or removed. Values
    /// added to the entry are discarded.
    /// </summary>
    /// <param name="label">The label of the entry, for display.</param>
    /// <param name="message">The error message.</param>
    /// <param name="time">When the error occurred.</param>
    public void FailEntry(string label, string message, DateTime time)
    {
        ArgumentNullException.ThrowIfNull(label);
        ArgumentNullException.ThrowIfNull(message);
        int key = Owner >= 0 ? _openKey : -1; // Owner throws if no entry was begun
        End();
        _lastOfKey[key] = -1;
        _errors[key] = new EntryError(label, message, time);
    }

    /// <summary>
    /// Ends the entry and keeps an error, for example about a value that could not be indexed, until the key is put or removed.
    /// </summary>
    /// <param name="label">The label of the entry, for display.</param>
    /// <param name="message">The error message.</param>
    /// <param name="time">When the error occurred.</param>
    public void EndEntry(string label, string message, DateTime time)
    {
        ArgumentNullException.ThrowIfNull(label);
        ArgumentNullException.ThrowIfNull(message);
        int key = Owner >= 0 ? _openKey : -1; // Owner throws if no entry was begun
        EndEntry();
        _errors[key] = new EntryError(label, message, time);
    }

    /// <summary>Removes the entry with the specified key, if it exists.</summary>
    public void Delete(ReadOnlySpan<byte> key)
    {
        _lastOfKey[Intern(key)] = -1;
        Count++;
    }

    /// <summary>
    /// Appends the operations of another batch of the same index, exactly as if they had been added here: for texts that several
    /// threads analyze, each into a batch of its own. The other batch is unchanged.
    /// </summary>
    /// <exception cref="ArgumentException">The other batch belongs to another index.</exception>
    /// <exception cref="InvalidOperationException">An entry of either batch was not ended.</exception>
    public void Append(IndexBatch other)
    {
        ArgumentNullException.ThrowIfNull(other);
        CheckClosed();
        other.CheckClosed();
        if (other._schema != _schema || other == this)
            throw new ArgumentException("A batch can take entries only from other batches of the same index.", nameof(other));

        foreach (int field in other.VectorFields)
            HoldDimensions(field, _dimensions[field]);
        Count += other.Count;
        _vectorWorkBytes += other._vectorWorkBytes;
        SizeBytes += other.SizeBytes + (_append ??= new BatchAppend(this)).Run(other);
    }

    /// <summary>Clears the batch for reuse. Keeps its memory, up to some MiB per buffer.</summary>
    public void Clear()
    {
        foreach (int field in _usedFields)
            _fields[field]!.Clear(KeepBytes); // used fields are not null
        _usedFields.Clear();
        foreach (int field in VectorFields)
            _dimensions.Release(field);
        VectorFields.Clear();
        _keys.Clear(KeepBytes);
        _lastOfKey.Clear();
        _entries.Clear();
        _records.Clear(KeepBytes);
        _touched.Clear();
        _errors.Clear();
        Stored.Clear(KeepBytes);
        _openKey = -1;
        Count = 0;
        SizeBytes = _vectorWorkBytes = 0;
    }

    internal BatchField Field(int field) => _fields[field]!; // only called for used fields

    internal void CheckClosed()
    {
        if (_openKey >= 0)
            throw new InvalidOperationException("The entry begun last was not ended: call EndEntry first.");
    }

    private void HoldDimensions(int field, int dimensions)
    {
        if (VectorFields.Contains(field))
            return;
        VectorFields.Add(field);
        _dimensions.Hold(field, dimensions);
    }

    private int Intern(ReadOnlySpan<byte> key)
    {
        CheckClosed();
        if (key.Length is 0 or > MaxKeyBytes)
            throw new ArgumentException(
                $"The key of an entry has 1 to {MaxKeyBytes} bytes; this one has {key.Length}.", nameof(key));

        int ordinal = _keys.Intern(key);
        if (ordinal == _lastOfKey.Count)
        {
            _lastOfKey.Add(-1);
            SizeBytes += key.Length + BytesOfKey;
        }

        _errors.Remove(ordinal);
        return ordinal;
    }

    private BatchField Begin(int field, int owner)
    {
        _ = AnalysisOf(field); // throws if there is no such field
        BatchField target = Use(field);
        if (target.Exists.Count == 0 || target.Exists[^1] != owner)
        {
            target.Exists.Add(owner);
            SizeBytes += 4;
        }

        return target;
    }

    /// <summary>Returns the buffer of a field and marks the field as used.</summary>
    internal BatchField Use(int field)
    {
        BatchField target = _fields[field] ??= new BatchField();
        if (target.Exists.Count == 0)
        {
            // Kept in ascending order. Entries mostly use fields in order, so the search is short.
            int place = _usedFields.BinarySearch(field);
            _usedFields.Insert(~place, field);
        }

        return target;
    }

    /// <exception cref="ArgumentOutOfRangeException">The schema has no such field.</exception>
    private FieldAnalysis AnalysisOf(int field)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(field);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(field, _fields.Length);
        return _schema.Fields[field].Analysis;
    }

    private void RequireSpatial(int field)
    {
        if (AnalysisOf(field) != FieldAnalysis.Spatial)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' is not spatial: it takes no places.");
    }

    private void RequireValues(int field)
    {
        FieldAnalysis analysis = AnalysisOf(field);
        if (analysis is FieldAnalysis.Spatial)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' is spatial: it takes places only.");
        if (analysis is FieldAnalysis.Vector)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' takes vectors only.");
    }

    private void AddPlace(int field, GridPoint point, byte[]? shape)
    {
        int owner = Owner;
        BatchField target = Begin(field, owner);
        if (target.Places.Count == 0 || target.Places[^1].Owner != owner)
            _touched.Add(new BatchTouch(field, EntryGroup.Kept, BatchTouch.NoTerm));
        target.Places.Add(new BatchField.Place(owner, point, shape));
        SizeBytes += 24 + (shape?.Length ?? 0);
    }

    private void AddWords(BatchField target, int field, int owner, ReadOnlySpan<byte> utf8)
    {
        _touched.Add(new BatchTouch(field, EntryGroup.Terms, BatchTouch.NoTerm)); // the field exists, even without a word
        _sink.Begin(target, field, owner);
        Analyzer analyzer = _analyzers[field];
        if (!analyzer.MayThrow)
        {
            analyzer.Analyze(utf8, _sink);
        }
        else
        {
            // The analyzer may throw, so collect its tokens before adding any of them.
            foreach (TokenList.Token token in TokenList.Of(analyzer, utf8))
                _sink.Add(token);
        }

        _sink.Finish();
        if (_sink.Count > 0)
        {
            AddLength(target, owner, _sink.Count);
            target.NextPosition = (owner, _sink.NextPosition + TokenSink.ValueGap);
        }

        _sink.End(KeepBytes);
    }

    private void AddNumber(int field, ReadOnlySpan<byte> key)
    {
        int owner = Owner;
        RequireValues(field);
        BatchField target = Begin(field, owner);
        if (_schema.Fields[field].Analysis == FieldAnalysis.FullText)
        {
            Span<byte> text = stackalloc byte[NumberKey.MaxTextBytes];
            AddText(field, text[..NumberKey.Format(key, text)]);
            return;
        }

        int known = target.Numbers.Count;
        if (target.Numbers.Add(key, owner, out int ordinal))
            _touched.Add(new BatchTouch(field, EntryGroup.Numbers, ordinal));
        SizeBytes += 12 + (target.Numbers.Count == known ? 0 : key.Length + BytesOfTerm);
        AddSortValue(target, owner, SortTag.Number, ordinal);
    }

    private void AddTerm(BatchField target, int field, int owner, ReadOnlySpan<byte> term, out int ordinal)
    {
        target.IsInexact = true;
        int known = target.Terms.Count;
        if (target.Terms.Add(term, owner, out ordinal))
        {
            _touched.Add(new BatchTouch(field, EntryGroup.Terms, ordinal));
            SizeBytes += 12;
        }

        if (target.Terms.Count != known)
            SizeBytes += term.Length + BytesOfTerm;
    }

    /// <summary>Adds a term of a full-text value.</summary>
    internal void AddWord(BatchField target, int field, int owner, ReadOnlySpan<byte> term, uint hash, int position)
    {
        int known = target.Terms.Count;
        if (target.Terms.Add(term, hash, owner, position, out int ordinal))
        {
            _touched.Add(new BatchTouch(field, EntryGroup.Terms, ordinal));
            SizeBytes += 12;
        }

        SizeBytes += 8;
        if (target.Terms.Count != known)
            SizeBytes += term.Length + BytesOfTerm;
    }

    private void AddSortValue(BatchField target, int owner, SortTag tag, int ordinal)
    {
        if (target.SortValues.Count > 0 && target.SortValues[^1].Owner == owner)
        {
            target.HasSeveralValues = true;
            target.IsInexact = true;
            return;
        }

        target.IsInexact |= target.Nulls.Count > 0 && target.Nulls[^1] == owner;
        target.HasTextValue |= tag == SortTag.Text;
        target.SortValues.Add(new BatchField.SortValue(owner, tag, ordinal));
        SizeBytes += 12;
    }

    private void AddLength(BatchField target, int owner, int count)
    {
        if (target.Lengths.Count > 0 && target.Lengths[^1].Owner == owner)
        {
            target.Lengths[^1] = new BatchField.Length(owner, target.Lengths[^1].Terms + count);
            return;
        }

        target.Lengths.Add(new BatchField.Length(owner, count));
        SizeBytes += 8;
    }
}
