using System.Text;
using Treepie.Json;

namespace Treepie.Store;

/// <summary>The name of a collection in its different forms.</summary>
internal sealed class CollectionName
{
    /// <summary>The maximum length of a name in UTF-8 bytes.</summary>
    public const int MaxBytes = 256;

    public CollectionName(string name)
    {
        Text = name;
        Utf8 = Encoding.UTF8.GetBytes(name);
        Folded = Fold(Utf8);
        Json = JsonStrings.Of(name);
    }

    public string Text { get; }

    public byte[] Utf8 { get; }

    /// <summary>The name as a JSON string, with its quotes.</summary>
    public byte[] Json { get; }

    /// <summary>The folded name; names with equal folded forms are the same collection.</summary>
    public byte[] Folded { get; }

    public static byte[] Fold(string text) => Fold(Encoding.UTF8.GetBytes(text));

    public static byte[] Fold(ReadOnlySpan<byte> utf8)
    {
        byte[] folded = new byte[utf8.Length + (utf8.Length / 2)];
        return folded[..DocumentId.Fold(utf8, folded)];
    }

    /// <summary>Validates and creates a name.</summary>
    /// <exception cref="InvalidDocumentException">The name is too long or contains control characters.</exception>
    public static CollectionName From(ReadOnlySpan<byte> utf8, string documentId)
    {
        if (utf8.Length > MaxBytes)
            throw new InvalidDocumentException(
                $"Document '{documentId}': @collection has {utf8.Length} bytes in UTF-8, the limit is {MaxBytes}. Shorten the "
                    + $"name.");

        string name = Encoding.UTF8.GetString(utf8);
        foreach (char unit in name)
            if (char.IsControl(unit))
                throw new InvalidDocumentException(
                    $"Document '{documentId}': @collection holds the control character U+{(int)unit:X4}. Remove it.");
        return new CollectionName(name);
    }
}
