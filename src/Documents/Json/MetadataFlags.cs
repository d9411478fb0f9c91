using System.Text.Json;

namespace Treepie.Json;

/// <summary>
/// Removes the database's own <c>@flags</c> from metadata that clients send back as they received it. Flags of other programs are
/// kept.
/// </summary>
internal static class MetadataFlags
{
    private static readonly byte[][] _given =
        ["HasAttachments"u8.ToArray(), "HasCounters"u8.ToArray(), "HasRevisions"u8.ToArray(), "HasTimeSeries"u8.ToArray()];

    /// <summary>Removes, in place, the flags that the database sets. Returns the remaining length.</summary>
    public static int RemoveGiven(Span<byte> metadata)
    {
        if (!TryFind(metadata, out ReadOnlySpan<byte> flags))
            return metadata.Length;

        var others = new List<byte>(flags.Length);
        bool isGiven = false;
        foreach (Range range in flags.Split((byte)','))
        {
            ReadOnlySpan<byte> flag = flags[range].Trim((byte)' ');
            if (IsGiven(flag))
            {
                isGiven = true;
                continue;
            }

            if (others.Count > 0)
                others.AddRange(", "u8);
            others.AddRange(flag);
        }

        if (!isGiven)
            return metadata.Length;
        metadata.Overlaps(flags, out int start);
        byte[] rest = others.Count == 0
            ? [.. MetadataMember.Without(metadata, MetadataKeys.Flags)]
            : [.. metadata[..start], .. others, .. metadata[(start + flags.Length)..]];
        rest.CopyTo(metadata);
        return rest.Length;
    }

    /// <summary>Finds the flags of metadata, as the content of a JSON string. Returns false if there are none.</summary>
    public static bool TryFind(ReadOnlySpan<byte> metadata, out ReadOnlySpan<byte> flags)
    {
        flags = default;
        if (metadata.IndexOf(MetadataKeys.Flags) < 0)
            return false;
        var reader = new Utf8JsonReader(metadata, new JsonReaderOptions { MaxDepth = int.MaxValue });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isIt = reader.ValueTextEquals(MetadataKeys.Flags);
            reader.Read();
            if (isIt && reader.TokenType == JsonTokenType.String)
            {
                flags = reader.ValueSpan;
                return true;
            }

            reader.Skip();
        }

        return false;
    }

    private static bool IsGiven(ReadOnlySpan<byte> flag)
    {
        foreach (byte[] given in _given)
            if (flag.SequenceEqual(given))
                return true;
        return false;
    }
}
