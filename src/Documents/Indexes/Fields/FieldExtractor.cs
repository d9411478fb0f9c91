using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Turns a document into the values of an index's fields, in one pass over its JSON and without an object per value. What becomes
/// what: strings, numbers and booleans are values; every element of an array is one; null, and an empty array, are "there without a
/// value"; an object is there and equal to nothing, and all text inside it can be searched. Not thread-safe.
/// </summary>
internal sealed class FieldExtractor
{
    /// <summary>
    /// What an object is in a field of whole values: a term no query says, so that <c>exists</c> and <c>= null</c> see that
    /// something is there. It is the last of all texts, so ranges of texts end before it.
    /// </summary>
    public const string ObjectMark = "\U0010FFFF";

    private static ReadOnlySpan<byte> ObjectMarkUtf8 => "\U0010FFFF"u8;

    private static readonly string[] DocumentMetadata = ["@id", "@collection", "@last-modified", "@change-vector"];

    private readonly FieldSlot[] _slots;
    private readonly PathTree _body;
    private readonly PathTree _metadata;
    private readonly List<(string Member, int Slot)> _documentMetadata = [];
    private readonly int _idSlot = -1;

    public FieldExtractor(AutoIndexDefinition definition)
    {
        var slots = new List<FieldSlot>();
        var body = new List<(FieldPath, int)>();
        var metadata = new List<(FieldPath, int)>();
        foreach (IGrouping<string, (AutoIndexField Field, int Number)> group in definition.Fields.Select((f, i) => (f, i)).GroupBy(f => f.f.Path))
        {
            int slot = slots.Count;
            slots.Add(new FieldSlot([.. group.Select(g => new FieldTarget(g.Number, g.Field.Kind))]));
            if (group.Key == AutoIndexField.Id)
            {
                _idSlot = slot;
                continue;
            }

            // A path that cannot be read has no values; the binder lets none through.
            if (FieldPath.TryParse(group.Key) is not { } path)
                continue;

            if (!path.IsMetadata)
                body.Add((path, slot));
            else if (path.Count == 2 && Array.Find(DocumentMetadata, m => path.Text == $"{FieldPath.MetadataMember}.{m}") is { } member)
                _documentMetadata.Add((member, slot));
            else if (path.Count > 1)
                metadata.Add((path, slot));
        }

        _slots = [.. slots];
        _body = new PathTree(body);
        _metadata = new PathTree(metadata, skipMembers: 1);
    }

    /// <summary>Adds the values of a document to the entry that was begun in the batch.</summary>
    public void Extract(Document document, IndexBatch batch)
    {
        var sink = new BatchSink(batch, _slots);
        if (_idSlot >= 0)
            sink.Text(_idSlot, document.Id);
        if (!_body.IsEmpty)
            _body.Visit(document.Body, ref sink);
        if (!_metadata.IsEmpty)
            _metadata.Visit(document.Metadata, ref sink);

        foreach ((string member, int slot) in _documentMetadata)
            ExtractMetadata(document, member, slot, ref sink);
    }

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
                new DateTime(document.LastModifiedTicks, DateTimeKind.Utc).TryFormat(time, out int length, "O", CultureInfo.InvariantCulture);
                sink.Text(slot, time[..length]);
                break;
            default:
                sink.Text(slot, System.Text.Encoding.UTF8.GetBytes(document.ChangeVector));
                break;
        }
    }

    /// <summary>The fields that take the values of one path.</summary>
    private sealed record FieldSlot(FieldTarget[] Targets);

    private readonly record struct FieldTarget(int Field, AutoIndexFieldKind Kind);

    private readonly struct BatchSink(IndexBatch batch, FieldSlot[] slots) : IFieldSink
    {
        public void Value(int slot, ref Utf8JsonReader reader)
        {
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
                        if (target.Kind == AutoIndexFieldKind.Search)
                            batch.AddText(target.Field, reader.ValueSpan);
                        else
                            batch.AddBoolean(target.Field, reader.TokenType == JsonTokenType.True);
                    break;
                default:
                    Null(slot);
                    break;
            }
        }

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            bool isSearched = false;
            foreach (FieldTarget target in slots[slot].Targets)
                if (target.Kind == AutoIndexFieldKind.Search)
                    isSearched = true;
                else
                    batch.AddText(target.Field, ObjectMarkUtf8);

            if (!isSearched)
                return;

            FieldTarget[] searched = Array.FindAll(slots[slot].Targets, t => t.Kind == AutoIndexFieldKind.Search);
            int depth = reader.CurrentDepth;
            while (reader.Read() && !(reader.TokenType == JsonTokenType.EndObject && reader.CurrentDepth == depth))
                if (reader.TokenType == JsonTokenType.String)
                    DecodedText(searched, ref reader);
        }

        public void EmptyArray(int slot) => Null(slot);

        public void Text(int slot, ReadOnlySpan<byte> utf8) => Text(slots[slot].Targets, utf8);

        private void Text(FieldTarget[] targets, ReadOnlySpan<byte> utf8)
        {
            foreach (FieldTarget target in targets)
                batch.AddText(target.Field, utf8);
        }

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
                ArrayPool<byte>.Shared.Return(decoded, clearArray: true); // it may be of an encrypted database
            }
        }

        private void Number(int slot, ref Utf8JsonReader reader)
        {
            bool isLong = reader.TryGetInt64(out long whole);
            double real = isLong ? 0 : reader.GetDouble();
            foreach (FieldTarget target in slots[slot].Targets)
            {
                if (target.Kind == AutoIndexFieldKind.Search)
                    batch.AddText(target.Field, reader.ValueSpan);
                else if (isLong)
                    batch.AddLong(target.Field, whole);
                else
                    batch.AddDouble(target.Field, real);
            }
        }

        private void Null(int slot)
        {
            foreach (FieldTarget target in slots[slot].Targets)
                if (target.Kind != AutoIndexFieldKind.Search)
                    batch.AddNull(target.Field);
        }
    }
}
