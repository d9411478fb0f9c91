using System.Buffers.Binary;
using System.Globalization;
using System.Text.Json;

namespace Treepie.Store;

/// <summary>The times at which a document is due for actions, from its metadata: UTC ticks, 0 for never.</summary>
/// <param name="Expires">When it is deleted (<c>@expires</c>).</param>
/// <param name="Refresh">When <c>@refresh</c> is removed from its metadata, which gives it a new change vector.</param>
/// <param name="Archive">When it is marked as archived (<c>@archive-at</c>).</param>
internal readonly record struct DueTimes(long Expires, long Refresh, long Archive)
{
    private const string Format = "yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK";

    private static readonly string[] _formats = [Format, "yyyy-MM-dd"];

    public bool IsNone => (Expires | Refresh | Archive) == 0;

    public long this[DueAction action] => action switch
    {
        DueAction.Expire => Expires,
        DueAction.Refresh => Refresh,
        _ => Archive,
    };

    /// <summary>Returns the metadata member for an action.</summary>
    public static ReadOnlySpan<byte> MemberOf(DueAction action) => action switch
    {
        DueAction.Expire => "@expires"u8,
        DueAction.Refresh => "@refresh"u8,
        _ => "@archive-at"u8,
    };

    /// <summary>Reads the times from minified metadata; ignores invalid ones.</summary>
    public static DueTimes Of(ReadOnlySpan<byte> metadata) => Read(metadata, null);

    /// <summary>
    /// Returns the UTC ticks at which an item beside documents expires by itself; 0 for never, as for all but compare-exchange
    /// values. Their stored form is the length of the JSON (4 bytes), the JSON, and the metadata.
    /// </summary>
    public static long OfItem(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (KindKey.KindOf(key) != Kind.CompareExchange || value.Length < sizeof(int))
            return 0;
        int length = BinaryPrimitives.ReadInt32LittleEndian(value);
        return (uint)length <= value.Length - sizeof(int) ? Of(value[(sizeof(int) + length)..]).Expires : 0;
    }

    /// <summary>Rejects metadata with invalid times.</summary>
    /// <exception cref="InvalidDocumentException">A time is not valid; the message names it.</exception>
    public static void Check(string id, ReadOnlySpan<byte> metadata, string what = "document") => Read(metadata, id, what);

    private static DueTimes Read(ReadOnlySpan<byte> metadata, string? strictId, string what = "")
    {
        if (metadata.IsEmpty
            || (metadata.IndexOf("\"@expires\""u8) < 0
                && metadata.IndexOf("\"@refresh\""u8) < 0
                && metadata.IndexOf("\"@archive-at\""u8) < 0))
            return default;

        long expires = 0, refresh = 0, archive = 0;
        var reader = new Utf8JsonReader(metadata, new JsonReaderOptions { MaxDepth = int.MaxValue });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (reader.ValueTextEquals(MemberOf(DueAction.Expire)))
                expires = ReadTime(ref reader, strictId, what, "@expires");
            else if (reader.ValueTextEquals(MemberOf(DueAction.Refresh)))
                refresh = ReadTime(ref reader, strictId, what, "@refresh");
            else if (reader.ValueTextEquals(MemberOf(DueAction.Archive)))
                archive = ReadTime(ref reader, strictId, what, "@archive-at");
            else
                reader.Skip();
        }

        return new DueTimes(expires, refresh, archive);
    }

    private static long ReadTime(ref Utf8JsonReader reader, string? strictId, string what, string member)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.Null)
            return 0;
        string? text = reader.TokenType == JsonTokenType.String ? reader.GetString() : null;
        if (text is not null && DateTime.TryParseExact(
                text, _formats, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
                out DateTime time))
            return Math.Max(1, time.Ticks);

        reader.Skip();
        return strictId is null
            ? 0
            : throw new InvalidDocumentException(
                $"'{member}' in the metadata of {what} '{strictId}' is not a time. Nothing was changed. Write it like "
                    + $"2030-01-31T12:00:00.0000000Z.");
    }
}
