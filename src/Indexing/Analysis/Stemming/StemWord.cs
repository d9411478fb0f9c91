using System.Text;

namespace Treepie.Indexing.Analysis.Stemming;

/// <summary>
/// A word while it is being stemmed: its characters, and the regions (places up to the end) that rules speak of. Scratch, reused.
/// </summary>
internal sealed class StemWord
{
    /// <summary>Longest word that is stemmed; what is longer is no word of these languages and stays as it is.</summary>
    public const int MaxLength = 128;

    /// <summary>Room that the rules which make a word longer may use.</summary>
    private const int Growth = MaxLength + 16; // a tilde may stand apart from each letter

    private readonly char[] _chars = new char[MaxLength + Growth];
    private readonly byte[] _utf8 = new byte[3 * (MaxLength + Growth)];

    public int Length { get; private set; }

    /// <summary>Where the region R1 begins: behind the first consonant that follows a vowel.</summary>
    public int R1 { get; set; }

    /// <summary>Where the region R2 begins: as R1, within R1.</summary>
    public int R2 { get; set; }

    /// <summary>Where the region RV begins, which each language says in its own way.</summary>
    public int RV { get; set; }

    public ReadOnlySpan<char> Text => _chars.AsSpan(0, Length);

    public ref char this[int place] => ref _chars[place];

    /// <summary>The character of a place; none behind the end.</summary>
    public char At(int place) => place < Length ? _chars[place] : '\0';

    /// <summary>The last character, or one before it.</summary>
    public char FromEnd(int back) => back < Length ? _chars[Length - 1 - back] : '\0';

    /// <summary>Takes a word; false if it is too long or not UTF-8.</summary>
    public bool TryLoad(ReadOnlySpan<byte> word)
    {
        Length = 0;
        if (word.Length > 3 * MaxLength || Encoding.UTF8.GetCharCount(word) > MaxLength)
            return false;

        Length = Encoding.UTF8.GetChars(word, _chars);
        R1 = R2 = RV = Length;
        return !Text.Contains('\uFFFD');
    }

    /// <summary>The word in UTF-8; lives until the next word is loaded.</summary>
    public ReadOnlySpan<byte> ToUtf8() => _utf8.AsSpan(0, Encoding.UTF8.GetBytes(Text, _utf8));

    public bool EndsWith(string suffix) => Text.EndsWith(suffix);

    /// <summary>Whether the word ends with the suffix, which lies in the region from <paramref name="region"/> on.</summary>
    public bool EndsIn(string suffix, int region) => Length - suffix.Length >= region && Text.EndsWith(suffix);

    /// <summary>The longest suffix of the list that the word has; null if none. The list may be in any order.</summary>
    public string? Longest(ReadOnlySpan<string> suffixes) => LongestIn(suffixes, 0);

    /// <summary>The longest suffix of the list that the word has and that lies in a region.</summary>
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

    /// <summary>Takes so many characters off the end.</summary>
    public void Cut(int count) => Length -= count;

    /// <summary>Undoes cuts that nothing was written over.</summary>
    public void Restore(int length) => Length = length;

    /// <summary>Takes a suffix off.</summary>
    public void Cut(string suffix) => Length -= suffix.Length;

    /// <summary>Puts another ending in the place of a suffix.</summary>
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

    /// <summary>Takes one character out.</summary>
    public void RemoveAt(int place)
    {
        Text[(place + 1)..].CopyTo(_chars.AsSpan(place));
        Length--;
    }

    /// <summary>Puts one character in.</summary>
    public void Insert(int place, char value)
    {
        Text[place..].CopyTo(_chars.AsSpan(place + 1));
        _chars[place] = value;
        Length++;
    }

    /// <summary>Takes characters off the beginning.</summary>
    public void CutStart(int count)
    {
        Text[count..].CopyTo(_chars);
        Length -= count;
    }

    /// <summary>Puts one character for another, everywhere.</summary>
    public void ReplaceAll(char old, char with) => _chars.AsSpan(0, Length).Replace(old, with);

    /// <summary>The place behind the first consonant that follows a vowel, from a place on; the end if there is none.</summary>
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

    /// <summary>Sets RV as the Romance languages do: behind a prefix that the second and first letters decide.</summary>
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

    /// <summary>The place of the first vowel from a place on; the end if there is none.</summary>
    public int FirstVowel(int from, string vowels) => Find(from, vowels, isVowel: true);

    private int Find(int from, string vowels, bool isVowel)
    {
        int place = from;
        while (place < Length && vowels.Contains(_chars[place]) != isVowel)
            place++;
        return place;
    }
}
