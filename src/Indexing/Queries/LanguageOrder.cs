using System.Globalization;
using System.Text.Unicode;

namespace Treepie.Indexing.Queries;

/// <summary>
/// Orders texts as readers of a language expect (Unicode Technical Standard 10 with the rules of the language). The first 128
/// characters count, as far as their sort key fits into <see cref="ICustomOrder.MaxKeyBytes"/>. Immutable.
/// </summary>
/// <param name="name">Its name, for plans.</param>
/// <param name="culture">The language.</param>
/// <param name="options">What is ignored, and whether numbers in texts are compared as numbers.</param>
public sealed class LanguageOrder(string name, CultureInfo culture, CompareOptions options = CompareOptions.None) : ICustomOrder
{
    private const int MaxCharacters = 128, RoomBytes = 4_096;

    private readonly CompareInfo _rules = (culture ?? throw new ArgumentNullException(nameof(culture))).CompareInfo;

    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public int WriteKey(SortValue value, Span<byte> key)
    {
        Span<char> characters = stackalloc char[MaxCharacters];
        Utf8.ToUtf16(value.Text, characters, out _, out int length);
        ReadOnlySpan<char> text = characters[..length];
        Span<byte> room = stackalloc byte[RoomBytes];
        if (_rules.GetSortKeyLength(text, options) is > RoomBytes and var needed)
            room = new byte[needed];
        int written = Math.Min(_rules.GetSortKey(text, room, options), key.Length);
        room[..written].CopyTo(key);
        return written;
    }
}
