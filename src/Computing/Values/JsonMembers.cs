using System.Text;
using System.Text.Json;

namespace Treepie.Computing.Values;

/// <summary>
/// A JSON object that is read when it is asked: what nobody asks about is skipped, not parsed. Lives as long as its bytes stay as
/// they are. Not thread-safe.
/// </summary>
internal sealed class JsonMembers(ReadOnlyMemory<byte> json) : IValueMembers
{
    private List<Place>? _places;

    /// <summary>The bytes of the whole object.</summary>
    public ReadOnlyMemory<byte> Json => json;

    public Value Get(string name)
    {
        ReadOnlySpan<byte> bytes = json.Span;
        foreach (Place place in Places())
        {
            ReadOnlySpan<byte> known = bytes[place.Name..place.NameEnd];
            if (Ascii.Equals(known, name) || ((!Ascii.IsValid(name) || known.Contains((byte)'\\')) && NameOf(known) == name))
                return JsonValues.Read(json[place.Start..place.End]);
        }

        return Value.Missing;
    }

    public IEnumerable<KeyValuePair<string, Value>> All() =>
        Places().Select(place => new KeyValuePair<string, Value>(
            NameOf(json.Span[place.Name..place.NameEnd]), JsonValues.Read(json[place.Start..place.End])));

    /// <summary>A name as it stands between its quotes.</summary>
    private static string NameOf(ReadOnlySpan<byte> name)
    {
        if (!name.Contains((byte)'\\'))
            return Encoding.UTF8.GetString(name);
        byte[] quoted = [(byte)'"', .. name, (byte)'"'];
        var reader = new Utf8JsonReader(quoted);
        reader.Read();
        return reader.GetString() ?? "";
    }

    private List<Place> Places()
    {
        if (_places is not null)
            return _places;
        var places = new List<Place>();
        var reader = new Utf8JsonReader(json.Span, JsonValues.Options);
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            int name = (int)reader.TokenStartIndex + 1, nameEnd = name + reader.ValueSpan.Length;
            reader.Read();
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            places.Add(new Place(name, nameEnd, start, (int)reader.BytesConsumed));
        }

        return _places = places;
    }

    /// <summary>Where a member stands: its name without quotes, and its value.</summary>
    private readonly record struct Place(int Name, int NameEnd, int Start, int End);
}
