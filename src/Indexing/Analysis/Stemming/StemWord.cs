using System.Text;

namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>
/// A word while it is being stemmed: its characters, and the regions to which the rules refer, each given by its start and
/// extending to the end of the word. A reusable buffer.
/// </summary>
internal sealed class StemWord
{
    /// <summary>Longest word that is stemmed. A longer one is not a word of these languages and is left unchanged.</summary>
    public const int MaxLength = 128;

    /// <summary>Space for rules that make a word longer.</summary>
    private const int Growth = MaxLength + 16; // a tilde may be split off each letter

    private readonly char[] _chars = new char[MaxLength + Growth];
    private readonly byte[] _utf8 = new byte[3 * (MaxLength + Growth)];

    public int Length { get; private set; }

    /// <summary>Start of the region R1: after the first consonant that follows a vowel.</summary>
    public int R1 { get; set; }

    /// <summary>Start of the region R2: like R1, but within R1.</summary>
    public int R2 { get; set; }

    /// <summary>Start of the region RV, which each language defines differently.</summary>
    public int RV { get; set; }

    public ReadOnlySpan<char> Text => _chars.AsSpan(0, Length);

    public ref char this[int place] => ref _chars[place];

    /// <summary>The character at a place; <c>'\0'</c> past the end.</summary>
    public char At(int place) => place < Length ? _chars[place] : '\0';

    /// <summary>The character at a distance from the last one; <c>'\0'</c> before the beginning.</summary>
    public char FromEnd(int back) => back < Length ? _chars[Length - 1 - back] : '\0';

    /// <summary>Loads a word; false if it is too long or not valid UTF-8.</summary>
    public bool TryLoad(ReadOnlySpan<byte> word)
    {
        Length = 0;
        if (word.Length > 3 * MaxLength || Encoding.UTF8.GetCharCount(word) > MaxLength)
            return false;

        Length = Encoding.UTF8.GetChars(word, _chars);
        R1 = R2 = RV = Length;
        return !Text.Contains('\uFFFD');
    }

    /// <summary>The word in UTF-8; valid until the next call.</summary>
    public ReadOnlySpan<byte> ToUtf8() => _utf8.AsSpan(0, Encoding.UTF8.GetBytes(Text, _utf8));

    public bool EndsWith(string suffix) => Text.EndsWith(suffix);

    /// <summary>
    /// Whether the word ends with the suffix and the suffix lies in the region that starts at <paramref name="region"/>.
    /// </summary>
    public bool EndsIn(string suffix, int region) => Length - suffix.Length >= region && Text.EndsWith(suffix);

    /// <summary>
    /// The longest suffix of the list with which the word ends; null if there is none. The list may be in any order.
    /// </summary>
    public string? Longest(ReadOnlySpan<string> suffixes) => LongestIn(suffixes, 0);

    /// <summary>
    /// The longest suffix of the list with which the word ends and that lies in a region; null if there is none.
    /// </summary>
    public string? LongestIn(ReadOnlySpan<string> suffixes, int region)
    {
        string? best = null;
        char last = FromEnd(0);
        foreach (string suffix in suffixes)
        {
            if (suffix[^1] == last && suffix.Length > (best?.Length ?? 0) && EndsIn(suffix, region))
                best = suffix;
        }

        return best;
    }

    /// <summary>Removes characters from the end.</summary>
    public void Cut(int count) => Length -= count;

    /// <summary>Undoes cuts, provided that nothing was appended since.</summary>
    public void Restore(int length) => Length = length;

    /// <summary>Removes a suffix from the end.</summary>
    public void Cut(string suffix) => Length -= suffix.Length;

    /// <summary>Replaces a suffix by another ending.</summary>
    public void Replace(string suffix, string ending)
    {
        Length -= suffix.Length;
        Append(ending);
    }

    public void Append(string ending)
    {
        ending.CopyTo(_chars.AsSpan(Length));
        Length += ending.Length;
    }

    /// <summary>Removes one character.</summary>
    public void RemoveAt(int place)
    {
        Text[(place + 1)..].CopyTo(_chars.AsSpan(place));
        Length--;
    }

    /// <summary>Inserts one character.</summary>
    public void Insert(int place, char value)
    {
        Text[place..].CopyTo(_chars.AsSpan(place + 1));
        _chars[place] = value;
        Length++;
    }

    /// <summary>Removes characters from the beginning.</summary>
    public void CutStart(int count)
    {
        Text[count..].CopyTo(_chars);
        Length -= count;
    }

    /// <summary>Replaces every occurrence of a character by another.</summary>
    public void ReplaceAll(char old, char with) => _chars.AsSpan(0, Length).Replace(old, with);

    /// <summary>
    /// The place after the first consonant that follows a vowel, searching from a place on; the end if there is none.
    /// </summary>
    public int AfterVowelConsonant(int from, string vowels)
    {
        int place = from;
        while (place < Length && !vowels.Contains(_chars[place]))
            place++;
        while (place < Length && vowels.Contains(_chars[place]))
            place++;
        return Math.Min(Length, place + 1);
    }

    /// <summary>Sets R1 and R2 by the usual rule.</summary>
    public void SetRegions(string vowels)
    {
        R1 = AfterVowelConsonant(0, vowels);
        R2 = AfterVowelConsonant(R1, vowels);
    }

    /// <summary>Sets RV as in the Romance languages, where it depends on whether the first two letters are vowels.</summary>
    public void SetRomanceRegion(string vowels)
    {
        RV = Length;
        if (Length < 2)
            return;

        if (!vowels.Contains(_chars[1]))
            RV = Math.Min(Length, Find(2, vowels, isVowel: true) + 1);
        else if (vowels.Contains(_chars[0]))
            RV = Math.Min(Length, Find(2, vowels, isVowel: false) + 1);
        else
            RV = Math.Min(Length, 3);
    }

    /// <summary>The place of the first vowel from a place on; the length of the word if there is none.</summary>
    public int FirstVowel(int from, string vowels) => Find(from, vowels, isVowel: true);

    private int Find(int from, string vowels, bool isVowel)
    {
        int place = from;
        while (place < Length && vowels.Contains(_chars[place]) != isVowel)
            place++;
        return place;
    }
}
