namespace Treepie.Indexing.Automata;

/// <summary>
/// Regular expressions over terms, which match anywhere in a term unless anchored by <c>^</c> and <c>$</c>. Backreferences and
/// lookaround, which need backtracking, are rejected, so that no expression takes exponential time.
/// </summary>
internal static class RegexPattern
{
    /// <summary>Compiles an expression to an automaton.</summary>
    /// <param name="pattern">The expression.</param>
    /// <param name="toForm">Converts a text to its form in terms: folded if the field is.</param>
    /// <param name="isWhole">Whether it must match the whole term, as in Lucene syntax.</param>
    public static TermAutomaton Compile(string pattern, Func<string, string> toForm, bool isWhole = false)
    {
        var nfa = new Nfa();
        nfa.Start = Add(nfa, pattern, toForm, isWhole);
        return new TermAutomaton(nfa);
    }

    /// <summary>Adds an expression to an automaton; returns its first state.</summary>
    public static int Add(Nfa nfa, string pattern, Func<string, string> toForm, bool isWhole)
    {
        bool isFolded = toForm("A") != "A";
        RegexNode root = new RegexParser(pattern, isFolded).Parse();
        int next = Compile(nfa, root, isWhole ? nfa.AddMatch() : nfa.AddMatchRest(), toForm);
        return isWhole || next == Nfa.Dead || IsAtStart(nfa, next) ? next : Anywhere(nfa, next);
    }

    /// <summary>
    /// Whether the expression can match only at the start of a term. A dictionary scan then skips terms with another
    /// beginning.
    /// </summary>
    private static bool IsAtStart(Nfa nfa, int start)
    {
        var open = new Stack<int>([start]);
        var seen = new HashSet<int>();
        while (open.TryPop(out int state))
        {
            if (!seen.Add(state))
                continue;
            switch (nfa[state].Kind)
            {
                case NfaStateKind.AtStart:
                    break;
                case NfaStateKind.Split:
                    open.Push(nfa[state].Next);
                    open.Push(nfa[state].Other);
                    break;
                default:
                    return false;
            }
        }

        return true;
    }

    /// <summary>Allows a match to start at any position; <c>^</c> continues only at the first.</summary>
    private static int Anywhere(Nfa nfa, int start) => nfa.AddLoop(loop => nfa.AddSet(CharacterSet.Any, loop), start);

    /// <summary>Adds a node to the automaton; returns its first state. The parser limits the recursion depth.</summary>
    private static int Compile(Nfa nfa, RegexNode node, int next, Func<string, string> toForm)
    {
        switch (node)
        {
            case RegexSet set:
                return nfa.AddSet(set.Set, next);
            case RegexText text:
                return TextPatterns.Text(nfa, toForm(text.Text), next);
            case RegexAnchor anchor:
                return anchor.IsStart ? nfa.AddAtStart(next) : nfa.AddAtEnd(next);
            case RegexSequence sequence:
                for (int i = sequence.Parts.Count - 1; i >= 0; i--)
                    next = Compile(nfa, sequence.Parts[i], next, toForm);
                return next;
            case RegexChoice choice:
                int either = Nfa.Dead;
                foreach (RegexNode part in choice.Parts)
                    either = nfa.AddSplit(Compile(nfa, part, next, toForm), either);
                return either;
            default:
                return CompileRepeat(nfa, (RegexRepeat)node, next, toForm);
        }
    }

    private static int CompileRepeat(Nfa nfa, RegexRepeat repeat, int next, Func<string, string> toForm)
    {
        int end = next;
        if (repeat.Most is not { } most)
        {
            next = nfa.AddLoop(loop => Compile(nfa, repeat.Body, loop, toForm), next);
        }
        else
        {
            for (int i = repeat.Least; i < most && next != Nfa.Dead; i++)
            {
                int start = Compile(nfa, repeat.Body, next, toForm);
                if (start == next)
                    break; // an empty repetition: further ones would be empty too
                next = nfa.AddSplit(start, end);
            }
        }

        for (int i = 0; i < repeat.Least && next != Nfa.Dead; i++)
        {
            int start = Compile(nfa, repeat.Body, next, toForm);
            if (start == next)
                break;
            next = start;
        }

        return next;
    }
}
