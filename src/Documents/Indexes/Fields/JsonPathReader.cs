using System.Buffers;
using System.Text.Json;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Copies the value at a path of a JSON object byte for byte, parsing no more than necessary. A path that crosses an array
/// results in an array of the values in its elements; <c>[n]</c> selects one element; a path that ends at an array results
/// in that array.
/// </summary>
internal ref struct JsonPathReader
{
    private const int MaxDepth = 1024;

    private readonly ReadOnlySpan<byte> _json;
    private readonly FieldPath _path;
    private readonly IBufferWriter<byte> _output;
    private bool _isInArray;
    private bool _hasValue;

    private JsonPathReader(ReadOnlySpan<byte> json, FieldPath path, IBufferWriter<byte> output)
    {
        _json = json;
        _path = path;
        _output = output;
    }

    /// <summary>Writes the value; returns false, with nothing written, if there is none.</summary>
    public static bool TryWrite(ReadOnlySpan<byte> json, FieldPath path, IBufferWriter<byte> output)
    {
        if (MemberFinder.TryFind(json, path, out ReadOnlySpan<byte> value) is not { } isFound)
            return TryParse(json, path, output);
        output.Write(value);
        return isFound;
    }

    /// <summary>Finds the value in place or, where only a parser can tell it, copies it to a buffer first.</summary>
    /// <param name="json">A JSON object.</param>
    /// <param name="path">The path.</param>
    /// <param name="copy">The buffer, which is created or overwritten when it is needed.</param>
    /// <param name="value">The value, if there is one.</param>
    public static bool TryRead(
        ReadOnlySpan<byte> json, FieldPath path, ref ArrayBufferWriter<byte>? copy, out ReadOnlySpan<byte> value)
    {
        if (MemberFinder.TryFind(json, path, out value) is { } isFound)
            return isFound;
        copy ??= new ArrayBufferWriter<byte>();
        copy.ResetWrittenCount();
        bool isCopied = TryParse(json, path, copy);
        value = copy.WrittenSpan;
        return isCopied;
    }

    private static bool TryParse(ReadOnlySpan<byte> json, FieldPath path, IBufferWriter<byte> output)
    {
        var state = new JsonPathReader(json, path, output);
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = MaxDepth });
        return reader.Read() && reader.TokenType == JsonTokenType.StartObject && state.WriteMember(ref reader, 0);
    }

    /// <summary>Requires the reader at the start of an object; inside an array, leaves it at the end of the object.</summary>
    private bool WriteMember(ref Utf8JsonReader reader, int member)
    {
        bool found = false;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isWanted = !found && reader.ValueTextEquals(_path.NameOf(member));
            reader.Read();
            if (!isWanted)
            {
                reader.Skip();
                continue;
            }

            found = WriteValue(ref reader, member, 0);
            if (!_isInArray)
                return found;
        }

        return found;
    }

    /// <summary>Requires the reader at the value of a member, <paramref name="level"/> arrays deep.</summary>
    private bool WriteValue(ref Utf8JsonReader reader, int member, int level)
    {
        bool isLast = member == _path.Count - 1;
        if (reader.TokenType == JsonTokenType.StartArray && (!isLast || level < _path.LevelsOf(member)))
            return WriteElements(ref reader, member, level);
        if (_path.ElementOf(member, level) >= 0)
        {
            reader.Skip(); // only arrays have elements
            return false;
        }

        if (isLast)
            return WriteWhole(ref reader);
        if (reader.TokenType == JsonTokenType.StartObject)
            return WriteMember(ref reader, member + 1);

        return false;
    }

    private bool WriteElements(ref Utf8JsonReader reader, int member, int level)
    {
        int wanted = _path.ElementOf(member, level);
        bool opens = wanted < 0 && !_isInArray;
        if (opens)
            _output.Write("["u8);

        bool wasInArray = _isInArray;
        _isInArray = true;
        bool found = false;
        for (int index = 0; reader.Read() && reader.TokenType != JsonTokenType.EndArray; index++)
        {
            if (wanted < 0)
                found |= WriteValue(ref reader, member, level + 1);
            else if (wanted == index)
                found = WriteElement(ref reader, member, level, wasInArray);
            else
                reader.Skip();
        }

        _isInArray = wasInArray;
        if (opens)
            _output.Write("]"u8);

        return opens || found;
    }

    private bool WriteElement(ref Utf8JsonReader reader, int member, int level, bool wasInArray)
    {
        // The value in a selected element is written on its own; the copy of the reader may stop anywhere in the element.
        Utf8JsonReader inside = reader;
        reader.Skip();
        _isInArray = wasInArray;
        bool found = WriteValue(ref inside, member, level + 1);
        _isInArray = true;
        return found;
    }

    private bool WriteWhole(ref Utf8JsonReader reader)
    {
        int start = (int)reader.TokenStartIndex;
        reader.Skip();
        if (_isInArray && _hasValue)
            _output.Write(","u8);

        _hasValue = true;
        _output.Write(_json[start..(int)reader.BytesConsumed]);
        return true;
    }
}
