using System.Text.Json;

namespace Treepie.Json;

/// <summary>
/// Takes <c>@flags</c> out of metadata that clients send back as they were given it. Flags of other programs stay.
/// </summary>
internal static class MetadataFlags
{
    private static readonly byte[][] s_given =
        ["HasAttachments"u8.ToArray(), "HasCounters"u8.ToArray(), "HasRevisions"u8.ToArray(), "HasTimeSeries"u8.ToArray()];

    /// <summary>Takes it out in place where it speaks of what the database itself knows; gives the length that is left.</summary>
    public static int RemoveGiven(Span<byte> metadata)
    {
        if (metadata.IndexOf(MetadataKeys.Flags) < 0 || !IsGiven(metadata))
            return metadata.Length;

        ReadOnlySpan<byte> rest = MetadataMember.Without(metadata, MetadataKeys.Flags);
        rest.CopyTo(metadata);
        return rest.Length;
    }

    /// <summary>The flags of metadata, as text within a JSON string; false where it has none.</summary>
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

    private static bool IsGiven(ReadOnlySpan<byte> metadata)
    {
        foreach (byte[] flag in s_given)
            if (metadata.IndexOf(flag) >= 0)
                return true;
        return false;
    }
}
