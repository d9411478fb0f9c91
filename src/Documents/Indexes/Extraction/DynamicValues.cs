using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.Definitions;

namespace Treepie.Indexes.Extraction;

/// <summary>
/// Reads fields whose names are determined by documents, for one document at a time: those of <see cref="MappedField.Dynamic"/>,
/// and in an open index each member of the object that the definition does not name. Not thread-safe.
/// </summary>
internal sealed class DynamicValues
{
    private readonly StaticIndexMapping _mapping;
    private readonly IReadOnlyDictionary<DynamicField, int[]> _positions;
    private readonly Dictionary<string, int> _slots = new(StringComparer.Ordinal);
    private readonly Dictionary<string, byte[]> _members = new(StringComparer.Ordinal);
    private readonly HashSet<string> _named;
    private readonly int _endField;
    private readonly HashSet<DynamicField> _newFields;

    /// <param name="mapping">The index.</param>
    /// <param name="endField">The end of the fields that the index has already.</param>
    /// <param name="newFields">Receives fields that documents name and the index does not have.</param>
    public DynamicValues(StaticIndexMapping mapping, int endField, HashSet<DynamicField> newFields)
    {
        (_mapping, _endField, _newFields) = (mapping, endField, newFields);
        _positions = mapping.DynamicPositions;
        _named = [.. mapping.Definition.Fields.Select(static field => field.Name)];
        foreach (StoredField field in mapping.StoredFields)
            if (field.IsStored)
                _slots.TryAdd(field.Name, field.Slot);
    }

    /// <summary>The values of the last document, with the positions of the fields that take them.</summary>
    public List<(DynamicField Field, int[] Positions, ReadOnlyMemory<byte> Json)> Found { get; } = [];

    /// <summary>Its stored values as JSON, by slot; several values of one name as an array.</summary>
    public SortedDictionary<int, byte[]> Stored { get; } = [];

    public AutoIndexFieldKind KindOf(int position) => _mapping.Fields[position].Kind;

    /// <summary>Reads a document.</summary>
    /// <param name="body">The object returned by a map.</param>
    /// <param name="refuse">Receives a rejected field and the reason.</param>
    public void Read(ReadOnlySpan<byte> body, Action<string, string> refuse)
    {
        Found.Clear();
        Stored.Clear();
        _members.Clear();
        var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = MaxDepth });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isDynamic = reader.ValueTextEquals(MappedField.Dynamic);
            string name = _mapping.IsOpen ? reader.GetString()! : ""; // a property name is a string
            reader.Read();
            if (isDynamic && reader.TokenType == JsonTokenType.StartArray)
                while (reader.Read() && reader.TokenType == JsonTokenType.StartObject)
                    ReadField(body, ref reader, refuse);
            else if (_mapping.IsOpen && !isDynamic)
                ReadMember(name, body, ref reader, refuse);
            else
                reader.Skip();
        }
    }

    /// <summary>
    /// Returns the last object in the form in which an index that stores objects keeps it: its stored dynamic fields become
    /// members.
    /// </summary>
    public byte[] ToKeep(ReadOnlySpan<byte> body)
    {
        var output = new ArrayBufferWriter<byte>(body.Length);
        using var json = new Utf8JsonWriter(
            output, new JsonWriterOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping });
        var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = MaxDepth });
        reader.Read();
        json.WriteStartObject();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            string name = reader.GetString()!; // a property name is a string
            reader.Read();
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            if (name == MappedField.Dynamic)
                continue;
            json.WritePropertyName(name);
            json.WriteRawValue(body[start..(int)reader.BytesConsumed], skipInputValidation: true);
        }

        foreach ((string name, byte[] value) in _members)
        {
            json.WritePropertyName(name);
            json.WriteRawValue(value, skipInputValidation: true);
        }

        json.WriteEndObject();
        json.Flush();
        return output.WrittenSpan.ToArray();
    }

    /// <summary>The maximum depth of JSON that is read; the limit for documents is far lower.</summary>
    private const int MaxDepth = 1024;

    private void ReadMember(string name, ReadOnlySpan<byte> body, ref Utf8JsonReader reader, Action<string, string> refuse)
    {
        int start = (int)reader.TokenStartIndex;
        reader.Skip();
        if (name.StartsWith('@') || _named.Contains(name))
            return;
        if (DynamicField.Problem(name) is { } problem)
        {
            refuse(LabelOf(name), problem);
            return;
        }

        TryReadUses(name, null, null, out DynamicFieldUse? use, out bool isStored);
        Take(name, use, isStored && !_mapping.KeepsObjects, body[start..(int)reader.BytesConsumed].ToArray(), refuse);
    }

    private static string LabelOf(string name) => name.Length > 80 ? name[..80] : name;

    private void ReadField(ReadOnlySpan<byte> body, ref Utf8JsonReader reader, Action<string, string> refuse)
    {
        string name = "";
        string? indexing = null, storage = null;
        byte[]? json = null;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            string member = reader.GetString()!; // a property name is a string
            reader.Read();
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            ReadOnlySpan<byte> value = body[start..(int)reader.BytesConsumed];
            switch (member)
            {
                case "Name":
                    name = TextOf(value);
                    break;
                case "Value":
                    json = value.ToArray();
                    break;
                case "Indexing":
                    indexing = TextOf(value);
                    break;
                case "Storage":
                    storage = TextOf(value);
                    break;
            }
        }

        if (json is null)
            return;
        string label = LabelOf(name);
        if (DynamicField.Problem(name) is { } problem)
            refuse(label, problem);
        else if (!TryReadUses(name, indexing, storage, out DynamicFieldUse? use, out bool isStored))
            refuse(
                label, $"its options are Indexing: Default, Search, Exact or No, and Storage: Yes or No; the document says "
                    + $"'{indexing}' and '{storage}'.");
        else
            Take(name, use, isStored, json, refuse);
    }

    private void Take(string name, DynamicFieldUse? use, bool isStored, byte[] json, Action<string, string> refuse)
    {
        if (use is { } wanted)
        {
            var field = new DynamicField(name, wanted);
            if (_positions.TryGetValue(field, out int[]? positions) && positions[^1] < _endField)
                Found.Add((field, positions, json));
            else
                Meet(field, refuse);
        }

        if (!isStored)
            return;
        if (_mapping.KeepsObjects)
            _members[name] = _members.TryGetValue(name, out byte[]? before) ? Joined(before, json) : json;
        else if (_slots.TryGetValue(name, out int slot))
            Stored[slot] = Stored.TryGetValue(slot, out byte[]? before) ? Joined(before, json) : json;
        else
            Meet(new DynamicField(name, DynamicFieldUse.Stored), refuse);
    }

    private void Meet(DynamicField field, Action<string, string> refuse)
    {
        if (_mapping.DynamicFields.Count + _newFields.Count < IndexDefinition.MaxDynamicFields || _newFields.Contains(field))
            _newFields.Add(field);
        else
            refuse(
                field.Name,
                $"the index has {IndexDefinition.MaxDynamicFields:N0} fields that documents have named, and no more are taken. "
                    + "Name fewer, and give what has very many names as values: Name and Value of one field.");
    }

    private bool TryReadUses(
        string name, string? indexing, string? storage, out DynamicFieldUse? use, out bool isStored)
    {
        FieldIndexing ofAll = _mapping.Definition.AllFields?.Indexing ?? FieldIndexing.Default;
        (bool isKnown, use) = indexing?.ToUpperInvariant() switch
        {
            null or "NULL" => (true, ofAll switch
            {
                FieldIndexing.Search => DynamicFieldUse.Search,
                FieldIndexing.Exact => DynamicFieldUse.Exact,
                // a field that the definition names has options of its own
                FieldIndexing.No when !_mapping.Definition.Fields.Any(
                    field => field.Name == name && field.Indexing != FieldIndexing.No) => (DynamicFieldUse?)null,
                _ => DynamicFieldUse.Value,
            }),
            "DEFAULT" => (true, DynamicFieldUse.Value),
            "SEARCH" or "HIGHLIGHTING" => (true, DynamicFieldUse.Search),
            "EXACT" => (true, DynamicFieldUse.Exact),
            "NO" => (true, (DynamicFieldUse?)null),
            _ => (false, null),
        };
        string? kept = storage?.ToUpperInvariant();
        isStored = kept is "YES" or "TRUE" || (kept is null or "NULL" && _mapping.Definition.AllFields?.Stored == true);
        return isKnown && kept is null or "NULL" or "YES" or "NO" or "TRUE" or "FALSE";
    }

    /// <summary>Returns a string without its quotes; any other value as written.</summary>
    private static string TextOf(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        reader.Read();
        return reader.TokenType == JsonTokenType.String ? reader.GetString()! : Encoding.UTF8.GetString(json); // it is a string
    }

    private static byte[] Joined(byte[] before, byte[] json) => before[0] == '['
        ? [.. before.AsSpan(0, before.Length - 1), (byte)',', .. json, (byte)']']
        : [(byte)'[', .. before, (byte)',', .. json, (byte)']'];
}
