using System.Text;
using System.Text.Json;

namespace Treepie.Computing.Values;

/// <summary>
/// A JSON object that is read when it is asked: what nobody asks about is skipped, not parsed. Lives as long as its bytes stay as
/// they are. Not thread-safe.
/// </summary>
internal sealed class JsonMembers(ReadOnlyMemory<byte> json) : IValueMembers
{
    private List<(string Name, int Start, int End)>? _places;

    /// <summary>The bytes of the whole object.</summary>
    public ReadOnlyMemory<byte> Json => json;

    public Value Get(string name)
    {
        foreach ((string known, int start, int end) in Places())
            if (known == name)
                return JsonValues.Read(json[start..end]);
        return Value.Missing;
    }

    public IEnumerable<KeyValuePair<string, Value>> All() =>
        Places().Select(place => new KeyValuePair<string, Value>(place.Name, JsonValues.Read(json[place.Start..place.End])));

    private List<(string Name, int Start, int End)> Places()
    {
        if (_places is not null)
            return _places;
        var places = new List<(string, int, int)>();
        var reader = new Utf8JsonReader(json.Span, JsonValues.Options);
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            string name = reader.ValueIsEscaped ? reader.GetString() ?? "" : Encoding.UTF8.GetString(reader.ValueSpan);
            reader.Read();
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            places.Add((name, start, (int)reader.BytesConsumed));
        }

        return _places = places;
    }
}
