using System.Text;

namespace Treepie.Indexing.Automata;

/// <summary>Automata for wildcard patterns and for texts within an edit distance.</summary>
internal static class TextPatterns
{
    /// <summary>Length of the longest pattern with wildcards in characters.</summary>
    public const int MaxWildcardLength = 1_024;

    /// <summary>Length of the longest text for fuzzy matching in characters.</summary>
    public const int MaxFuzzyLength = 256;

    /// <summary>Most edits. With three, nearly every short word would match every other.</summary>
    public const int MaxEdits = 2;

    /// <summary>
    /// Splits a pattern into pieces: texts, <c>*</c> as <see cref="WildcardKind.Any"/> and <c>?</c> as
    /// <see cref="WildcardKind.One"/>. A character after <c>\</c> is a literal. Adjacent stars are merged.
    /// </summary>
    public static List<WildcardPiece> Cut(string pattern)
    {
        var pieces = new List<WildcardPiece>();
        var text = new StringBuilder();
        void EndText()
        {
            if (text.Length > 0)
                pieces.Add(new WildcardPiece(WildcardKind.Text, text.ToString()));
            text.Clear();
        }

        for (int i = 0; i < pattern.Length; i++)
        {
            switch (pattern[i])
            {
                case '\\' when i + 1 < pattern.Length:
                    text.Append(pattern[++i]);
                    break;
                case '*':
                    EndText();
                    if (pieces.Count == 0 || pieces[^1].Kind != WildcardKind.Any)
                        pieces.Add(new WildcardPiece(WildcardKind.Any, ""));
                    break;
                case '?':
                    EndText();
                    pieces.Add(new WildcardPiece(WildcardKind.One, ""));
                    break;
                default:
                    text.Append(pattern[i]);
                    break;
            }
        }

        EndText();
        return pieces;
    }

    /// <summary>Returns the automaton of a pattern, whose texts must have the form that they have in terms.</summary>
    public static TermAutomaton Wildcard(IReadOnlyList<WildcardPiece> pieces)
    {
        var nfa = new Nfa();
        bool endsOpen = pieces is [.., { Kind: WildcardKind.Any }];
        int next = endsOpen ? nfa.AddMatchRest() : nfa.AddMatch();
        for (int i = pieces.Count - (endsOpen ? 2 : 1); i >= 0; i--)
        {
            switch (pieces[i].Kind)
            {
                case WildcardKind.Any:
                    next = nfa.AddLoop(loop => nfa.AddSet(CharacterSet.Any, loop), next);
                    break;
                case WildcardKind.One:
                    next = nfa.AddSet(CharacterSet.Any, next);
                    break;
                default:
                    next = Text(nfa, pieces[i].Text, next);
                    break;
            }
        }

        nfa.Start = next;
        return new TermAutomaton(nfa);
    }

    /// <summary>
    /// Returns an automaton that matches everything within a number of edits of a text. An edit inserts, deletes or replaces
    /// a character, or swaps two adjacent ones; no character is edited twice. The first <paramref name="prefix"/> characters
    /// must be equal.
    /// </summary>
    public static TermAutomaton Near(string text, int edits, int prefix)
    {
        var nfa = new Nfa();
        int[] characters = [.. text.EnumerateRunes().Select(rune => rune.Value)];
        int length = characters.Length;
        prefix = Math.Min(prefix, length);
        int match = nfa.AddMatch();

        // States by place in the text and number of edits made. Built from the end, because each state leads to later
        // places, or to more edits at the same place.
        var state = new int[length + 1, edits + 1];
        for (int place = length; place >= 0; place--)
        {
            for (int made = edits; made >= 0; made--)
            {
                int next = place == length ? match : nfa.AddSet(CharacterSet.Of(characters[place]), state[place + 1, made]);
                if (made < edits && place >= prefix)
                {
                    next = nfa.AddSplit(next, nfa.AddSet(CharacterSet.Any, state[place, made + 1])); // inserted
                    if (place < length)
                    {
                        next = nfa.AddSplit(next, nfa.AddSet(CharacterSet.Any, state[place + 1, made + 1])); // replaced
                        next = nfa.AddSplit(next, state[place + 1, made + 1]); // deleted
                    }

                    if (place + 1 < length)
                    {
                        int second = nfa.AddSet(CharacterSet.Of(characters[place]), state[place + 2, made + 1]);
                        next = nfa.AddSplit(next, nfa.AddSet(CharacterSet.Of(characters[place + 1]), second)); // swapped
                    }
                }

                state[place, made] = next;
            }
        }

        nfa.Start = state[0, 0];
        return new TermAutomaton(nfa);
    }

    /// <summary>Adds the characters of a text; returns the first state.</summary>
    public static int Text(Nfa nfa, string text, int next)
    {
        int[] characters = [.. text.EnumerateRunes().Select(rune => rune.Value)];
        for (int i = characters.Length - 1; i >= 0; i--)
            next = nfa.AddSet(CharacterSet.Of(characters[i]), next);
        return next;
    }
}

/// <summary>A piece of a pattern with wildcards.</summary>
internal readonly record struct WildcardPiece(WildcardKind Kind, string Text);

/// <summary>Kinds of <see cref="WildcardPiece"/>.</summary>
internal enum WildcardKind
{
    /// <summary>Literal characters.</summary>
    Text,

    /// <summary>Any characters, or none.</summary>
    Any,

    /// <summary>One character.</summary>
    One,
}
