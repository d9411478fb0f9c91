using System.Collections;
using System.Text.Json;

namespace Treepie.Computing.Values;

/// <summary>A JSON array that is parsed on access.</summary>
internal sealed class JsonItems(ReadOnlyMemory<byte> json) : IEnumerable<Value>
{
    private List<Value>? _items;

    /// <summary>The bytes of the whole array.</summary>
    public ReadOnlyMemory<byte> Json => json;

    public IEnumerator<Value> GetEnumerator() => (_items ??= Read()).GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private List<Value> Read()
    {
        var items = new List<Value>();
        var reader = new Utf8JsonReader(json.Span, JsonValues.Options);
        reader.Read();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            items.Add(JsonValues.Read(json[start..(int)reader.BytesConsumed]));
        }

        return items;
    }
}
