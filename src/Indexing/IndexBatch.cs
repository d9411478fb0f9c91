using Treepie.Indexing.Analysis;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Vectors;
using Treepie.Indexing.Writing;

namespace Treepie.Indexing;

/// <summary>
/// Entries to be put and keys to be removed, in order; a later one for the same key replaces an earlier one. Values of a field
/// may be added several times (an array). Fields are named by their position in the schema. One thread at a time.
/// </summary>
/// <remarks>
/// Text is analyzed when it is added; a batch holds terms, not values. The first value of a field that is not null is what
/// the entry is sorted by. A value of any length is taken: terms of more than 512 bytes stand in the dictionary in a
/// cut form that is exact for equality, and the whole texts of values are kept beside it for order.
/// </remarks>
public sealed class IndexBatch
{
    /// <summary>Longest key of an entry.</summary>
    public const int MaxKeyBytes = 512;

    /// <summary>Largest piece of memory that is kept for the next batch: what a batch within the usual budget needs.</summary>
    private const int KeepBytes = 16 << 20;

    /// <summary>
    /// What a vector weighs beside its numbers: a batch of 16 MiB has a thousand of them, whose neighbours are found in about a
    /// second.
    /// </summary>
    private const int VectorWorkBytes = 16 * 1024;

    /// <summary>What a different term, and a different key, take beside their bytes.</summary>
    internal const int BytesOfTerm = 40, BytesOfKey = 48;

    private readonly IndexSchema _schema;
    private readonly int[] _dimensions;
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
    private BatchAppend? _append;
    private long _vectorWorkBytes;
    private int _openKey = -1;

    internal IndexBatch(IndexSchema schema, FieldAnalyzers analyzers, int[] dimensions)
    {
        _dimensions = dimensions;
        _schema = schema;
        _analyzers = analyzers;
        _sink = new BatchSink(this);
        _fields = new BatchField?[schema.Fields.Count];
        _fieldOf = Field;
    }

    /// <summary>Puts and removals waiting.</summary>
    public int Count { get; private set; }

    /// <summary>Approximate native and managed bytes held; a caller commits when its budget is reached.</summary>
    public long SizeBytes { get; private set; }

    /// <summary>
    /// As <see cref="SizeBytes"/>, without what finding the neighbours of vectors counts for: what is held in memory.
    /// </summary>
    public long HeldBytes => SizeBytes - _vectorWorkBytes;

    internal List<BatchEntry> Entries => _entries;

    internal TermTable Keys => _keys;

    /// <summary>By ordinal of a key: the entry it ends with, or -1 if it ends removed.</summary>
    internal List<int> LastOfKey => _lastOfKey;

    /// <summary>Fields that any entry has, ascending.</summary>
    internal List<int> UsedFields => _usedFields;

    internal ByteArena Records => _records;

    /// <summary>What entries keep to be given back.</summary>
    internal StoredValues Stored { get; } = new();

    /// <summary>By ordinal of a key: why its entry was left out.</summary>
    internal Dictionary<int, EntryError> Errors => _errors;

    private int Owner => _openKey >= 0
        ? _entries.Count
        : throw new InvalidOperationException("A value belongs to an entry: call BeginEntry first.");

    /// <summary>
    /// Starts the entry of <paramref name="key"/> (1 to 512 bytes of UTF-8), which replaces the entry of that key, if any.
    /// </summary>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    /// <exception cref="InvalidOperationException">The entry before was not ended.</exception>
    public void BeginEntry(ReadOnlySpan<byte> key)
    {
        _openKey = Intern(key);
        _touched.Clear();
    }

    /// <summary>Adds a text value (UTF-8), which the field's analyzer turns into terms.</summary>
    /// <remarks>
    /// What an own analyzer throws comes out of here, and nothing of the value is added; the field exists in the entry all the
    /// same.
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
    /// Adds a value that is there and equal to nothing, as an object is: no condition on texts or numbers finds it, and in an
    /// order of texts it comes behind all of them.
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

    /// <summary>Adds a number; NaN is taken as null.</summary>
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

    /// <summary>Adds a place to a spatial field, in degrees.</summary>
    /// <exception cref="InvalidGeometryException">A coordinate is not a number or outside its range; nothing is
    /// added.</exception>
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
    /// Adds a vector to a vector field. What it costs to find its neighbours counts in <see cref="SizeBytes"/>, so that a commit
    /// of a batch within a budget takes a bounded time.
    /// </summary>
    /// <exception cref="InvalidVectorException">It is empty, has another number of dimensions than those before, or a number that
    /// is infinite or none; nothing is added.</exception>
    /// <exception cref="InvalidOperationException">The field has no vectors.</exception>
    public void AddVector(int field, ReadOnlySpan<float> vector)
    {
        int owner = Owner;
        if (_schema.Fields[field].Analysis != FieldAnalysis.Vector)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' has no vectors.");
        Similarity.Check(vector, _dimensions[field]);
        _dimensions[field] = vector.Length;
        BatchField target = Begin(field, owner);
        if (target.Vectors.Count == 0 || target.Vectors[^1].Owner != owner)
            _touched.Add(new BatchTouch(field, EntryGroup.Kept, BatchTouch.NoTerm));
        target.Vectors.Add((owner, vector.ToArray()));
        SizeBytes += (vector.Length * sizeof(float)) + VectorWorkBytes;
        _vectorWorkBytes += VectorWorkBytes;
    }

    /// <summary>Adds an explicit null: the field exists and has no value.</summary>
    public void AddNull(int field)
    {
        int owner = Owner;
        BatchField target = Begin(field, owner);
        if (target.Nulls.Count == 0 || target.Nulls[^1] != owner)
        {
            target.Nulls.Add(owner);
            _touched.Add(new BatchTouch(field, EntryGroup.Null, 0));
        }
    }

    /// <summary>
    /// Keeps bytes beside the entry, to be given back by <see cref="SearchResults.Stored"/>; the index does not look at them.
    /// Numbers come in order.
    /// </summary>
    public void AddStored(int slot, ReadOnlySpan<byte> value)
    {
        Stored.Add(Owner, slot, value);
        SizeBytes += value.Length + 8;
    }

    /// <summary>Ends the entry.</summary>
    public void EndEntry()
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
    /// Ends the entry without it: its key has no entry, and the error is kept in the index until the key is put or removed. What
    /// was added to the entry is forgotten.
    /// </summary>
    /// <param name="label">What names the entry to people.</param>
    /// <param name="message">What is wrong with it.</param>
    /// <param name="time">When it was found.</param>
    public void FailEntry(string label, string message, DateTime time)
    {
        int key = Owner >= 0 ? _openKey : -1; // asks whether there is one
        EndEntry();
        _lastOfKey[key] = -1;
        _errors[key] = new EntryError(label, message, time);
    }

    /// <summary>
    /// Ends the entry and keeps an error beside it, until the key is put or removed: of a value that could not be taken.
    /// </summary>
    /// <param name="label">What names the entry to people.</param>
    /// <param name="message">What is wrong with it.</param>
    /// <param name="time">When it was found.</param>
    public void EndEntry(string label, string message, DateTime time)
    {
        int key = Owner >= 0 ? _openKey : -1; // asks whether there is one
        EndEntry();
        _errors[key] = new EntryError(label, message, time);
    }

    /// <summary>Removes the entry of this key, if any.</summary>
    public void Delete(ReadOnlySpan<byte> key)
    {
        _lastOfKey[Intern(key)] = -1;
        Count++;
    }

    /// <summary>
    /// Adds what another batch of the same index has behind what this one has, exactly as if it had been added here: for texts
    /// that several threads analyze, each into a batch of its own. The other stays as it is.
    /// </summary>
    /// <exception cref="ArgumentException">It is of another index.</exception>
    /// <exception cref="InvalidOperationException">An entry of either was not ended.</exception>
    public void Append(IndexBatch other)
    {
        ArgumentNullException.ThrowIfNull(other);
        CheckClosed();
        other.CheckClosed();
        if (other._schema != _schema || other == this)
            throw new ArgumentException("A batch takes what others of the same index have.", nameof(other));

        Count += other.Count;
        _vectorWorkBytes += other._vectorWorkBytes;
        SizeBytes += other.SizeBytes + (_append ??= new BatchAppend(this)).Run(other);
    }

    /// <summary>Forgets what it holds, so that it can be filled anew. Its memory stays, up to some MiB in one piece.</summary>
    public void Clear()
    {
        foreach (int field in _usedFields)
            _fields[field]!.Clear(KeepBytes); // used fields have one
        _usedFields.Clear();
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

    internal BatchField Field(int field) => _fields[field]!; // only asked for used fields

    internal void CheckClosed()
    {
        if (_openKey >= 0)
            throw new InvalidOperationException("The entry begun last was not ended: call EndEntry first.");
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
        ArgumentOutOfRangeException.ThrowIfNegative(field);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(field, _fields.Length);
        BatchField target = Use(field);
        if (target.Exists.Count == 0 || target.Exists[^1] != owner)
        {
            target.Exists.Add(owner);
            SizeBytes += 4;
        }

        return target;
    }

    /// <summary>The field, which is one that entries of the batch have from now on.</summary>
    internal BatchField Use(int field)
    {
        BatchField target = _fields[field] ??= new BatchField();
        if (target.Exists.Count == 0)
        {
            // Kept ascending: entries mostly name fields in order, so the search ends at once.
            int place = _usedFields.BinarySearch(field);
            _usedFields.Insert(~place, field);
        }

        return target;
    }

    private void RequireSpatial(int field)
    {
        if (_schema.Fields[field].Analysis != FieldAnalysis.Spatial)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' is not spatial: it takes no places.");
    }

    private void RequireValues(int field)
    {
        if (_schema.Fields[field].Analysis is FieldAnalysis.Spatial)
            throw new InvalidOperationException($"The field '{_schema.Fields[field].Name}' is spatial: it takes places only.");
        if (_schema.Fields[field].Analysis is FieldAnalysis.Vector)
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
        _touched.Add(new BatchTouch(field, EntryGroup.Terms, BatchTouch.NoTerm)); // the field exists, also without a word
        _sink.Begin(target, field, owner);
        Analyzer analyzer = _analyzers[field];
        if (!analyzer.MayThrow)
        {
            analyzer.Analyze(utf8, _sink);
        }
        else
        {
            // Nothing is taken before it is done.
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
            return;
        }

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
