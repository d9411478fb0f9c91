using System.Text.Json;

namespace Treepie.Indexes.Extraction;

/// <summary>
/// Counts the elements of the arrays at the path of a field, in one document at a time: an array inside an array is one element,
/// and a value that is no array and not null is one. Not thread-safe.
/// </summary>
internal sealed class ElementCounter
{
    private long _end; // where the array ends that was counted last

    /// <summary>The number so far.</summary>
    public long Count { get; private set; }

    public void Clear() => (Count, _end) = (0, 0);

    /// <summary>Counts a text that is not part of the JSON.</summary>
    public void AddText() => Count++;

    /// <summary>Counts a value, unless it is in an array that is counted.</summary>
    public void AddValue(in Utf8JsonReader reader)
    {
        if (reader.TokenStartIndex >= _end && reader.TokenType != JsonTokenType.Null)
            Count++;
    }

    /// <summary>Counts the elements of an array, with the reader at its start, unless it is in one that is counted.</summary>
    public void AddArray(Utf8JsonReader reader)
    {
        if (reader.TokenStartIndex < _end)
            return;
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            Count++;
            reader.Skip();
        }

        _end = reader.BytesConsumed;
    }
}
