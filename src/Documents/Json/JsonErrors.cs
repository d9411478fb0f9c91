using System.Text;

namespace Treepie.Json;

/// <summary>
/// Error messages about invalid documents: what is wrong, where (line, column, byte and path), and the remedy.
/// </summary>
internal static class JsonErrors
{
    private const int MaxPathLength = 200;

    public static InvalidDocumentException At(string id, ReadOnlySpan<byte> json, int offset, string path, string what)
    {
        (int line, int column) = LineAndColumn(json, offset);
        return new InvalidDocumentException(
            $"Document '{id}' is not valid at line {line}, column {column} (byte {offset}, {path}): {what}");
    }

    public static InvalidDocumentException InvalidUtf8(string id, ReadOnlySpan<byte> json)
    {
        int offset = 0;
        while (Rune.DecodeFromUtf8(json[offset..], out _, out int consumed) == System.Buffers.OperationStatus.Done)
            offset += consumed;
        return At(
            id, json, offset, "before parsing",
            $"the byte 0x{json[offset]:X2} does not belong to a UTF-8 character. Send the document encoded as UTF-8.");
    }

    /// <summary>Describes a byte of the input, for messages.</summary>
    public static string Describe(ReadOnlySpan<byte> json, int offset)
    {
        if (offset >= json.Length)
            return "the end of the text";
        return Rune.DecodeFromUtf8(json[offset..], out Rune rune, out _) == System.Buffers.OperationStatus.Done
            && !Rune.IsControl(rune)
            ? $"'{rune}'"
            : $"the byte 0x{json[offset]:X2}";
    }

    /// <summary>Truncates a path for a message.</summary>
    public static string Shorten(StringBuilder path) =>
        path.Length <= MaxPathLength ? path.ToString() : string.Concat(path.ToString(0, MaxPathLength), "…");

    public static bool IsLongEnough(StringBuilder path) => path.Length > MaxPathLength;

    private static (int Line, int Column) LineAndColumn(ReadOnlySpan<byte> json, int offset)
    {
        ReadOnlySpan<byte> before = json[..offset];
        int line = before.Count((byte)'\n') + 1;
        int lineStart = before.LastIndexOf((byte)'\n') + 1;
        int column = 1;
        foreach (byte value in before[lineStart..])
            if ((value & 0xC0) != 0x80) // columns count characters, not bytes
                column++;
        return (line, column);
    }
}
