using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Json;

namespace Treepie.Queries.Sources;

/// <summary>
/// Writes a result as filters and scripts see it: the document with its metadata, and the fields of the index, which replace
/// members of the same name, as they do in a selection of fields. Not thread-safe.
/// </summary>
internal sealed class ResultBody
{
    private readonly List<(string Name, byte[] Encoded, StoredField Field, FieldPath? Path)> _fields = [];
    private readonly bool _hasMembers;
    private readonly ArrayBufferWriter<byte> _document = new();

    /// <param name="fields">The fields of the index.</param>
    /// <param name="behavior">Where values are taken from.</param>
    public ResultBody(IReadOnlyList<StoredField> fields, ProjectionBehavior behavior)
    {
        _hasMembers = behavior is not (ProjectionBehavior.FromIndex or ProjectionBehavior.FromIndexOrThrow);
        if (behavior is ProjectionBehavior.FromDocument or ProjectionBehavior.FromDocumentOrThrow)
            return;
        foreach (StoredField field in fields)
        {
            bool isFromIndex = field.IsStored && (field.IsComputed || !_hasMembers);
            if (!isFromIndex && (field.Name == field.Path || !_hasMembers))
                continue;
            var encoded = new ArrayBufferWriter<byte>();
            JsonStrings.Write(encoded, Encoding.UTF8.GetBytes(field.Name));
            encoded.Write(":"u8);
            FieldPath? path = isFromIndex || field.Path == AutoIndexField.Id ? null : FieldPath.TryParse(field.Path);
            _fields.Add((field.Name, encoded.WrittenSpan.ToArray(), field with { IsStored = isFromIndex }, path));
        }
    }

    /// <summary>Appends the current result of a source.</summary>
    public void Write(ResultSource source, ArrayBufferWriter<byte> output)
    {
        if (!source.HasDocuments)
        {
            output.Write(source.Current.Body);
            return;
        }

        if (_fields.Count == 0 && _hasMembers)
        {
            source.Current.WriteTo(output);
            return;
        }

        output.Write("{"u8);
        bool isFirst = true;
        foreach ((_, byte[] encoded, StoredField field, FieldPath? path) in _fields)
        {
            _document.ResetWrittenCount();
            if (field.IsStored && source.Stored.TryGet(field.Slot, out ReadOnlySpan<byte> stored))
                _document.Write(stored);
            else if (!field.IsStored && path is null)
                JsonStrings.Write(_document, source.Id);
            else if (path is null || !DocumentValues.TryWrite(source.Current, path, _document))
                continue;
            output.Write(isFirst ? ""u8 : ","u8);
            output.Write(encoded);
            output.Write(_document.WrittenSpan);
            isFirst = false;
        }

        WriteMembers(source, output, isFirst);
        output.Write("}"u8);
    }

    /// <summary>Appends the members that no field replaces.</summary>
    private void WriteMembers(ResultSource source, ArrayBufferWriter<byte> output, bool isFirst)
    {
        _document.ResetWrittenCount();
        source.Current.WriteTo(_document);
        ReadOnlySpan<byte> json = _document.WrittenSpan;
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = 1_024 });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int from = (int)reader.TokenStartIndex;
            bool isWanted = reader.ValueTextEquals(FieldPath.MetadataMember) || (_hasMembers && !IsReplaced(ref reader));
            reader.Skip();
            if (!isWanted)
                continue;
            output.Write(isFirst ? ""u8 : ","u8);
            output.Write(json[from..(int)reader.BytesConsumed]);
            isFirst = false;
        }
    }

    private bool IsReplaced(ref Utf8JsonReader reader)
    {
        foreach ((string name, _, _, _) in _fields)
            if (reader.ValueTextEquals(name))
                return true;
        return false;
    }
}
