using System.Text.Json;

namespace Treepie.Store;

/// <summary>The mark of archived documents: <c>@archived: true</c> in their metadata.</summary>
internal static class DocumentArchive
{
    /// <summary>Returns whether minified metadata contains the mark; costs a search in metadata that does not.</summary>
    public static bool IsArchived(ReadOnlySpan<byte> metadata)
    {
        if (metadata.IndexOf("\"@archived\":true"u8) < 0)
            return false;
        var reader = new Utf8JsonReader(metadata, new JsonReaderOptions { MaxDepth = int.MaxValue });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isIt = reader.ValueTextEquals("@archived"u8);
            reader.Read();
            if (isIt)
                return reader.TokenType == JsonTokenType.True;
            reader.Skip();
        }

        return false; // the text was found in a nested value
    }
}
