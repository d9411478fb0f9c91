using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexing;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Store;

namespace Treepie.Indexes.Extraction;

/// <summary>
/// Extracts the values of an index's fields from a document, in one pass over its JSON and without an object per value.
/// Strings, numbers and booleans are values; each element of an array is a value; null and an empty array count as present
/// without a value; an object is present but equal to nothing, and all text in it can be searched. Not thread-safe.
/// </summary>
internal sealed class FieldExtractor
{
    private static readonly string[] _knownMembers = ["@id", "@collection", "@last-modified", "@change-vector"];

    private readonly StoredExtractor? _stored;
    private readonly DynamicValues? _dynamic;
    private readonly FieldSlot[] _whole = new FieldSlot[1];
    private readonly FieldSlot[] _slots;
    private readonly PlaceCollector?[] _places;
    private readonly ElementCounter?[] _counts;
    private readonly PathTree _body;
    private readonly PathTree _metadata;
    private readonly List<(string Member, int Slot)> _documentMetadata = [];
    private readonly Refusals _refused = new();
    private readonly Action<string, string> _refuse;
    private readonly int _idSlot = -1;

    /// <summary>Extracts the fields of an index, or a range of them.</summary>
    public FieldExtractor(IndexMapping definition, int firstField = 0, int endField = int.MaxValue)
    {
        var slots = new List<FieldSlot>();
        var body = new List<(FieldPath, int)>();
        var metadata = new List<(FieldPath, int)>();
        foreach (IGrouping<string, (string Path, FieldTarget Target)> group in definition.Fields.SelectMany(Targets)
            .Where(t => !definition.Fields[t.Target.Field].IsDynamic && t.Target.Field >= firstField && t.Target.Field < endField)
            .GroupBy(t => t.Path))
        {
            int slot = slots.Count;
            // A path that cannot be parsed has no values; the binder rejects such paths.
            FieldPath? path = group.Key == AutoIndexField.Id ? null : FieldPath.TryParse(group.Key);
            slots.Add(new FieldSlot([.. group.Select(g => g.Target)], path is { IsMetadata: false } ? path.Count : -1));
            if (group.Key == AutoIndexField.Id)
                _idSlot = slot;
            if (path is null)
                continue;

            if (!path.IsMetadata)
                body.Add((path, slot));
            else if (path.Count == 2
                && Array.Find(_knownMembers, m => path.Text == $"{FieldPath.MetadataMember}.{m}") is { } member)
                _documentMetadata.Add((member, slot));
            else if (path.Count > 1)
                metadata.Add((path, slot));
        }

        _places = [
            .. definition.Fields.Select(
                (f, i) => i >= firstField && i < endField && f is { Kind: AutoIndexFieldKind.Point, Longitude: { } longitude }
                    ? new PlaceCollector(i, f.Path, longitude)
                    : null)];
        _counts = [
            .. definition.Fields.Select(
                (f, i) => i >= firstField && i < endField && f.Kind == AutoIndexFieldKind.Count ? new ElementCounter() : null)];
        _stored = firstField == 0 && definition.StoredFields.Any(field => field.IsStored)
            ? new StoredExtractor(definition)
            : null;
        _dynamic = definition is StaticIndexMapping { HasDynamicFields: true } mapping
            ? new DynamicValues(mapping, endField, NewFields)
            : null;
        _refuse = _refused.Add;
        _slots = [.. slots];
        _body = new PathTree(body);
        _metadata = new PathTree(metadata, skipMembers: 1);
    }

    /// <summary>Adds the values of a document to the current entry of a batch.</summary>
    /// <exception cref="FormatException">A value does not fit its field, such as invalid WKT; the first such value is
    /// reported, and everything else is added.</exception>
    public void Extract(Document document, IndexBatch batch)
    {
        _refused.Clear();
        _dynamic?.Read(document.Body, _refuse);
        _stored?.Add(document, batch, _dynamic?.Stored);
        foreach (PlaceCollector? place in _places)
            place?.Clear();
        foreach (ElementCounter? count in _counts)
            count?.Clear();
        var sink = new BatchSink(batch, _slots, _places, _counts, _refused);
        if (_idSlot >= 0)
            sink.Text(_idSlot, document.Id);
        if (!_body.IsEmpty)
            _body.Visit(document.Body, ref sink);
        if (!_metadata.IsEmpty)
            _metadata.Visit(document.Metadata, ref sink);

        foreach ((string member, int slot) in _documentMetadata)
            ExtractMetadata(document, member, slot, ref sink);
        foreach (PlaceCollector? place in _places)
            if (place is not null)
                _refused.Try(place.Path, (Place: place, Batch: batch), static it => it.Place.AddTo(it.Batch));
        for (int field = 0; field < _counts.Length; field++)
            if (_counts[field] is { } count)
                batch.AddLong(field, count.Count);
        if (_dynamic is not null)
            ExtractDynamic(_dynamic, batch);
        if (_refused.First is { } error)
            throw error;
    }

    /// <summary>Returns what an index that stores objects keeps of a mapped object.</summary>
    public ReadOnlySpan<byte> ToKeep(ReadOnlySpan<byte> body)
    {
        if (_dynamic is null)
            return body;
        _dynamic.Read(body, static (_, _) => { }); // rejected fields are reported by Extract
        return _dynamic.ToKeep(body);
    }

    /// <summary>
    /// Fields that documents have named and the index does not have: their documents must be extracted again after the
    /// fields have been added.
    /// </summary>
    public HashSet<DynamicField> NewFields { get; } = [];

    private void ExtractDynamic(DynamicValues values, IndexBatch batch)
    {
        var sink = new BatchSink(batch, _whole, _places, _counts, _refused);
        foreach ((DynamicField field, int[] positions, ReadOnlyMemory<byte> json) in values.Found)
        {
            _whole[0] = new FieldSlot(
                [.. positions.Select(place => new FieldTarget(place, values.KindOf(place), field.Name))], -1);
            PathTree.VisitWhole(json.Span, ref sink);
        }
    }

    private static IEnumerable<(string Path, FieldTarget Target)> Targets(AutoIndexField field, int number) =>
        field.Longitude is { } longitude
            ? [(field.Path, new FieldTarget(number, field.Kind, field.Path)), (
                longitude, new FieldTarget(number, field.Kind, longitude, IsLongitude: true))]
            : [(field.Path, new FieldTarget(number, field.Kind, field.Path))];

    private static void ExtractMetadata(Document document, string member, int slot, ref BatchSink sink)
    {
        switch (member)
        {
            case "@id":
                sink.Text(slot, document.Id);
                break;
            case "@collection":
                sink.Text(slot, document.Collection);
                break;
            case "@last-modified":
                Span<byte> time = stackalloc byte[40];
                new DateTime(document.LastModifiedTicks, DateTimeKind.Utc).TryFormat(
                    time, out int length, "O", CultureInfo.InvariantCulture);
                sink.Text(slot, time[..length]);
                break;
            default:
                sink.Text(slot, System.Text.Encoding.UTF8.GetBytes(document.ChangeVector));
                break;
        }
    }

    /// <summary>The fields that take the values of one path.</summary>
    /// <param name="Targets">The fields.</param>
    /// <param name="Depth">The JSON depth of a value outside arrays; -1 if values are not those of the path.</param>
    private sealed record FieldSlot(FieldTarget[] Targets, int Depth);

    private readonly record struct FieldTarget(int Field, AutoIndexFieldKind Kind, string Path, bool IsLongitude = false)
    {
        public bool IsVector => AutoIndexField.IsVector(Kind);

        public bool IsComputed { get; } = ComputedKinds.IsComputed(Kind);

        /// <summary>The function of a text; null where none is computed.</summary>
        public Func<string, ComputedText?>? Function { get; } = ComputedKinds.FunctionOf(Kind);

        /// <summary>Whether it takes strings, numbers and booleans.</summary>
        public bool HasTerms =>
            !IsVector && Kind is not (AutoIndexFieldKind.Point or AutoIndexFieldKind.Wkt or AutoIndexFieldKind.Boost);
    }

    /// <summary>Values of the current document that fields could not take.</summary>
    private sealed class Refusals
    {
        public FormatException? First { get; private set; }

        public void Clear() => First = null;

        public void Add(string path, string problem) => First ??= new FormatException($"The field '{path}': {problem}");

        /// <summary>Runs an add operation with its state passed as an argument, to avoid allocating a closure.</summary>
        public void Try<T>(string path, T it, Action<T> add)
        {
            try
            {
                add(it);
            }
            catch (Exception error) when (error is FormatException or InvalidGeometryException or InvalidVectorException)
            {
                Add(path, error.Message);
            }
        }
    }

    private readonly struct BatchSink(
        IndexBatch batch, FieldSlot[] slots, PlaceCollector?[] places, ElementCounter?[] counts, Refusals refused)
        : IFieldSink
    {
        public void Value(int slot, ref Utf8JsonReader reader)
        {
            CountOne(slot, in reader);
            switch (reader.TokenType)
            {
                case JsonTokenType.String:
                    DecodedText(slots[slot].Targets, ref reader);
                    break;
                case JsonTokenType.Number:
                    Number(slot, ref reader);
                    break;
                case JsonTokenType.True:
                case JsonTokenType.False:
                    foreach (FieldTarget target in slots[slot].Targets)
                        if (!target.HasTerms)
                            Refuse(target, "a boolean");
                        else if (target.Kind == AutoIndexFieldKind.Search)
                            batch.AddText(target.Field, reader.ValueSpan);
                        else if (target.IsComputed)
                            Uncomputed(target);
                        else
                            batch.AddBoolean(target.Field, reader.TokenType == JsonTokenType.True);
                    break;
                default:
                    Null(slot, isExact: IsPlain(slot, in reader));
                    break;
            }
        }

        /// <summary>Whether the reader is on the value of a slot's path itself, outside arrays.</summary>
        private bool IsPlain(int slot, in Utf8JsonReader reader) => reader.CurrentDepth == slots[slot].Depth;

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            CountOne(slot, in reader);
            bool isSearched = false;
            foreach (FieldTarget target in slots[slot].Targets)
                if (target.Kind == AutoIndexFieldKind.Search)
                    isSearched = true;
                else if (target.IsVector)
                    VectorObject(target, reader);
                else if (!target.HasTerms)
                    Refuse(target, "an object");
                else if (target.IsComputed)
                    Uncomputed(target);
                else
                    batch.AddOpaque(target.Field);

            if (!isSearched)
                return;

            FieldTarget[] searched = Array.FindAll(slots[slot].Targets, t => t.Kind == AutoIndexFieldKind.Search);
            int depth = reader.CurrentDepth;
            while (reader.Read() && !(reader.TokenType == JsonTokenType.EndObject && reader.CurrentDepth == depth))
                if (reader.TokenType == JsonTokenType.String)
                    DecodedText(searched, ref reader);
        }

        public void EmptyArray(int slot) => Null(slot, isExact: false);

        /// <summary>Adds a text that is not part of the JSON: an id, or known metadata.</summary>
        public void Text(int slot, ReadOnlySpan<byte> utf8)
        {
            foreach (FieldTarget target in slots[slot].Targets)
                if (target.Kind == AutoIndexFieldKind.Count)
                    counts[target.Field]?.AddText();
            Text(slots[slot].Targets, utf8);
        }

        private void Text(FieldTarget[] targets, ReadOnlySpan<byte> utf8)
        {
            foreach (FieldTarget target in targets)
                if (target.Kind == AutoIndexFieldKind.Wkt)
                    Wkt(target, utf8);
                else if (target.IsVector)
                    VectorOfText(target, utf8);
                else if (!target.HasTerms)
                    Refuse(target, "a string");
                else if (target.IsComputed)
                    Computed(target, utf8);
                else
                    batch.AddText(target.Field, utf8);
        }

        private void Computed(FieldTarget target, ReadOnlySpan<byte> utf8)
        {
            Span<byte> moment = stackalloc byte[UtcTime.Length];
            if (target.Kind == AutoIndexFieldKind.Utc && UtcTime.TryWrite(utf8, moment))
                batch.AddText(target.Field, moment);
            else if (target.Kind == AutoIndexFieldKind.Utc || target.Function is not { } function)
                Uncomputed(target);
            else if (function(System.Text.Encoding.UTF8.GetString(utf8)) is not { } made)
                batch.AddNull(target.Field);
            else if (made.Text is { } text)
                batch.AddText(target.Field, System.Text.Encoding.UTF8.GetBytes(text));
            else
                batch.AddLong(target.Field, made.Number);
        }

        /// <summary>Adds null for a value of which the function makes nothing. Elements are counted where they stand.</summary>
        private void Uncomputed(FieldTarget target)
        {
            if (target.Kind != AutoIndexFieldKind.Count)
                batch.AddNull(target.Field);
        }

        private void Wkt(FieldTarget target, ReadOnlySpan<byte> utf8)
        {
            string text = System.Text.Encoding.UTF8.GetString(utf8);
            refused.Try(
                target.Path, (Batch: batch, target.Field, Text: text),
                static it => it.Batch.AddShape(it.Field, Geometry.Parse(it.Text)));
        }

        private void VectorOfText(FieldTarget target, ReadOnlySpan<byte> utf8)
        {
            string text = System.Text.Encoding.UTF8.GetString(utf8);
            if (target.Kind == AutoIndexFieldKind.PackedBits
                ? VectorText.TryUnpack(text, out float[] vector)
                : VectorText.TryDecode(text, out vector))
                Vector(target, vector);
            else
                Refuse(
                    target,
                    "a string that is not base64 of " + (target.Kind == AutoIndexFieldKind.PackedBits ? "bytes" : "floats"));
        }

        /// <summary>Reads <c>{"@vector": […]}</c>.</summary>
        private void VectorObject(FieldTarget target, Utf8JsonReader reader)
        {
            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                bool isVector = reader.ValueTextEquals("@vector"u8);
                reader.Read();
                if (isVector && reader.TokenType == JsonTokenType.StartArray)
                {
                    VectorArray(target, reader);
                    return;
                }

                reader.Skip();
            }

            Refuse(target, "an object without '@vector'");
        }

        private void VectorArray(FieldTarget target, Utf8JsonReader reader)
        {
            var numbers = new List<float>();
            while (reader.Read() && reader.TokenType == JsonTokenType.Number)
                numbers.Add((float)reader.GetDouble());
            float[] vector = [.. numbers];
            if (target.Kind == AutoIndexFieldKind.PackedBits && !VectorText.TryUnpack(vector, out vector))
                Refuse(target, "an array of numbers that are no bytes");
            else if (reader.TokenType == JsonTokenType.EndArray)
                Vector(target, vector);
            else if (numbers.Count > 0)
                Refuse(target, "an array with something else than numbers");
        }

        private void Vector(FieldTarget target, float[] numbers)
        {
            if (numbers.Length > 0)
                refused.Try(
                    target.Path, (Batch: batch, target.Field, Numbers: numbers),
                    static it => it.Batch.AddVector(it.Field, it.Numbers));
        }

        public void StartOfArray(int slot, ref Utf8JsonReader reader)
        {
            foreach (FieldTarget target in slots[slot].Targets)
                if (target.IsVector)
                    VectorArray(target, reader);
                else if (target.Kind == AutoIndexFieldKind.Count)
                    counts[target.Field]?.AddArray(reader);
        }

        private void CountOne(int slot, in Utf8JsonReader reader)
        {
            foreach (FieldTarget target in slots[slot].Targets)
                if (target.Kind == AutoIndexFieldKind.Count)
                    counts[target.Field]?.AddValue(in reader);
        }

        private void Refuse(FieldTarget target, string what) => refused.Add(target.Path, target switch
        {
            { IsVector: true } => $"A vector is an array of numbers or base64 of floats; the document has {what} there.",
            {
                Kind: AutoIndexFieldKind.Boost
            } =>
                    $"The boost of a document is a number from {BoostLimits.LeastOfEntry} to {BoostLimits.MostOfEntry}; the "
                        + $"document has {what} there.",
            { Kind: AutoIndexFieldKind.Wkt } => $"A place or shape is a string of WKT; the document has {what} there.",
            _ => $"A {(target.IsLongitude ? "longitude" : "latitude")} is a number; the document has {what} there.",
        });

        private void DecodedText(FieldTarget[] targets, ref Utf8JsonReader reader)
        {
            if (!reader.ValueIsEscaped)
            {
                Text(targets, reader.ValueSpan);
                return;
            }

            byte[] decoded = ArrayPool<byte>.Shared.Rent(reader.ValueSpan.Length);
            try
            {
                int length = reader.CopyString(decoded);
                Text(targets, decoded.AsSpan(0, length));
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(decoded, clearArray: true); // the database may be encrypted
            }
        }

        private void Number(int slot, ref Utf8JsonReader reader)
        {
            bool isLong = reader.TryGetInt64(out long whole);
            double real = isLong ? 0 : reader.GetDouble();
            bool isExact = IsPlain(slot, in reader) && (isLong || IsExact(real, reader.ValueSpan));
            foreach (FieldTarget target in slots[slot].Targets)
            {
                if (target.Kind == AutoIndexFieldKind.Point)
                    places[target.Field]?.Add(target.IsLongitude, isLong ? whole : real);
                else if (target.Kind == AutoIndexFieldKind.Wkt)
                    Refuse(target, "a number");
                else if (target.Kind == AutoIndexFieldKind.Boost && !BoostLimits.IsOfEntry(isLong ? whole : real))
                    Refuse(target, "another number");
                else if (target.IsVector)
                    continue; // the array was read as a whole
                else if (target.IsComputed)
                    Uncomputed(target);
                else
                    Add(target, isLong, whole, real, isExact);
            }
        }

        private void Add(FieldTarget target, bool isLong, long whole, double real, bool isExact)
        {
            if (isLong)
                batch.AddLong(target.Field, whole);
            else
                batch.AddDouble(target.Field, real);
            if (!isExact)
                batch.NoteInexact(target.Field);
        }

        /// <summary>
        /// Whether a number that is no long has no other value than its double: doubles tell numbers of up to 15 digits apart.
        /// </summary>
        private static bool IsExact(double real, ReadOnlySpan<byte> text)
        {
            const int MostBytes = 16; // with the point
            return real != 0 && text.Length <= MostBytes && !text.ContainsAny((byte)'e', (byte)'E');
        }

        private void Null(int slot, bool isExact)
        {
            foreach (FieldTarget target in slots[slot].Targets)
            {
                if (target.Kind == AutoIndexFieldKind.Point)
                {
                    places[target.Field]?.Add(target.IsLongitude, null);
                }
                else if (target.Kind is not (AutoIndexFieldKind.Search or AutoIndexFieldKind.Boost or AutoIndexFieldKind.Count))
                {
                    batch.AddNull(target.Field);
                    if (!isExact)
                        batch.NoteInexact(target.Field);
                }
            }
        }
    }
}
