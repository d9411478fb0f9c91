using System.Text;
using System.Text.Json;

namespace Treepie.Computing.Values;

/// <summary>
/// A JSON object that is parsed on access: values that are not accessed are skipped. Valid while its bytes are unchanged.
/// Not thread-safe.
/// </summary>
internal sealed class JsonMembers(ReadOnlyMemory<byte> json) : IValueMembers
{
    private List<Place>? _places;

    /// <summary>The bytes of the whole object.</summary>
    public ReadOnlyMemory<byte> Json => json;

    public Value Get(string name)
    {
        foreach (Place place in Places())
        {
            ReadOnlySpan<byte> quoted = json.Span[place.Name], known = quoted[1..^1];
            if (Ascii.Equals(known, name)
                || ((!Ascii.IsValid(name) || known.Contains((byte)'\\')) && JsonValues.ReadText(quoted) == name))
                return JsonValues.Read(json[place.Value]);
        }

        return Value.Missing;
    }

    public IEnumerable<KeyValuePair<string, Value>> All() =>
        Places().Select(place => new KeyValuePair<string, Value>(
            JsonValues.ReadText(json.Span[place.Name]), JsonValues.Read(json[place.Value])));

    private List<Place> Places()
    {
        if (_places is not null)
            return _places;
        var places = new List<Place>();
        var reader = new Utf8JsonReader(json.Span, JsonValues.Options);
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int name = (int)reader.TokenStartIndex, nameEnd = name + reader.ValueSpan.Length + 2;
            reader.Read();
            int value = (int)reader.TokenStartIndex;
            reader.Skip();
            places.Add(new Place(name..nameEnd, value..(int)reader.BytesConsumed));
        }

        return _places = places;
    }

    /// <summary>The positions of a member's name, with its quotes, and of its value.</summary>
    private readonly record struct Place(Range Name, Range Value);
}
