using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Automata;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Gathers the entries of all terms of a field that match a pattern into a union. Scans the dictionary in order and seeks
/// past prefixes that cannot match. The number of terms read is limited.
/// </summary>
/// <param name="context">The running query.</param>
/// <param name="field">The field.</param>
/// <param name="what">How errors refer to the query: <c>wildcard '*a*'</c>.</param>
internal sealed class TermScan(QueryContext context, int field, string what)
{
    /// <summary>
    /// Maximum number of terms that the patterns of one query may read: one or two seconds at about ten million a second.
    /// </summary>
    public const long MaxTerms = 16 << 20;

    /// <summary>After reading this many terms, more are likely to follow, so the next leaf is prefetched.</summary>
    private const int ManyTerms = 64;

    private readonly string _dictionary = TreeNames.Terms(field);
    private byte[] _form = new byte[TermForm.CutBytes];

    /// <summary>Matches terms that begin with the bytes.</summary>
    public UnionOperator Prefix(byte[] prefix)
    {
        byte[] start = prefix[..Math.Min(prefix.Length, TermForm.HeadBytes)];
        return Walk(
            start,
            start.Length == prefix.Length
                ? null
                : form => TermForm.IsCut(form) ? IsTold(form, "begins", TermForm.HeadBytes) : form.StartsWith(prefix));
    }

    /// <summary>Matches terms that end with the bytes.</summary>
    public UnionOperator Suffix(byte[] suffix) => Walk([], suffix.Length <= TermForm.TailBytes
        ? form => TermForm.EndsWith(form, suffix)
        : form => TermForm.IsCut(form) && suffix.AsSpan().EndsWith(form[^TermForm.TailBytes..])
            ? IsTold(form, "ends", TermForm.TailBytes)
            : form.EndsWith(suffix));

    /// <summary>Matches terms with one of the endings, each of at most <see cref="TermForm.TailBytes"/>.</summary>
    public UnionOperator Endings(TermEndings endings) => Walk([], endings.Matches);

    /// <summary>Matches terms that contain the bytes.</summary>
    public UnionOperator Infix(byte[] infix) => Walk([], form => TermForm.Contains(form, infix));

    /// <summary>Matches terms that an automaton accepts.</summary>
    public UnionOperator Matching(TermAutomaton automaton)
    {
        var union = new UnionOperator(context) { Name = ("terms", context.View.Schema.Fields[field].Name, what) };
        Visit(automaton, (_, payload) => union.Add(payload, context.View.Postings(context.View.TextDictionary(field))));
        union.Seal();
        return union;
    }

    /// <summary>Calls <paramref name="found"/> for each term that an automaton accepts, in ascending order.</summary>
    public void Visit(TermAutomaton automaton, TermFound found)
    {
        using FieldTexts? cursor = automaton.IsDead(automaton.Start) ? null : FieldTexts.Open(context.View, field);
        if (cursor is null)
            return;

        var path = new TermPath(automaton);
        long read = 0, all = context.View.TextCount(field);
        bool isThere = cursor.Seek(default);
        while (isThere)
        {
            context.Meter.Count.TermsScanned++;
            Count(++read, all);
            ReadOnlySpan<byte> key = cursor.Key;
            if (TermForm.IsNoText(key))
                return; // sorts after all texts
            if (path.Run(key))
            {
                if (path.Accepts)
                    found(key, cursor.Payload);
                isThere = cursor.MoveNext();
            }
            else if (path.CanSeek)
            {
                ReadOnlySpan<byte> target = path.FindNext(key);
                isThere = !target.IsEmpty && cursor.Seek(target);
            }
            else
            {
                isThere = cursor.MoveNext();
            }
        }
    }

    /// <summary>
    /// Gathers the entries of all terms that begin with <paramref name="start"/> and pass the test, if there is one. Reads
    /// blocks in place.
    /// </summary>
    private UnionOperator Walk(byte[] start, TermTest? test)
    {
        var union = new UnionOperator(context) { Name = ("terms", context.View.Schema.Fields[field].Name, what) };
        if (context.View.HasNumbersAlone(field))
        {
            WalkNumbers(union, start, test);
        }
        else if (context.View.Dictionary(_dictionary) is { } tree)
        {
            long read = 0, all = tree.Count;
            if (start.Length == 0)
                Count(all, all);
            Tree? postings = context.View.Postings(_dictionary);
            using TermCursor cursor = tree.OpenCursor();
            for (bool isThere = cursor.Seek(start); isThere; isThere = cursor.MoveToNextBlock())
            {
                if (!AddBlock(union, cursor.Block, cursor.Index, postings, start, test, ref read, all))
                    break;
                if (read >= ManyTerms)
                    cursor.PrefetchNextLeaf();
            }
        }

        union.Seal();
        return union;
    }

    /// <summary>As <see cref="Walk"/>, over texts that are stored as numbers.</summary>
    private void WalkNumbers(UnionOperator union, byte[] start, TermTest? test)
    {
        using FieldTexts? texts = FieldTexts.Open(context.View, field);
        long read = 0, all = context.View.TextCount(field);
        if (start.Length == 0)
            Count(all, all);
        // texts is not null once a text was found
        for (bool isThere = texts is not null && texts.Seek(start);
             isThere && texts!.Key.StartsWith(start);
             isThere = texts.MoveNext())
        {
            context.Meter.Count.TermsScanned++;
            Count(++read, all);
            if (test is null || test(texts.Key))
                union.Add(texts.Payload, texts.Postings);
        }
    }

    /// <summary>
    /// Adds the matching terms of a block from <paramref name="index"/> on; false once a term does not begin with
    /// <paramref name="start"/>.
    /// </summary>
    private bool AddBlock(
        UnionOperator union, TermBlock block, int index, Tree? postings, byte[] start, TermTest? test, ref long read, long all)
    {
        // The common prefix of a block usually decides all its terms.
        bool allFit = test is null && start.Length > 0 && block.Prefix.StartsWith(start);
        for (int next = block.At(index, out TermPlace term); ; next = block.Read(next, out term))
        {
            bool fits = allFit;
            if (!allFit)
            {
                if (_form.Length < block.LengthOf(term))
                    _form = new byte[block.LengthOf(term)];
                ReadOnlySpan<byte> key = _form.AsSpan(0, block.CopyTerm(term, _form));
                if (!key.StartsWith(start))
                    return false;
                fits = (test is null || test(key)) && !TermForm.IsNoText(key);
            }

            context.Meter.Count.TermsScanned++;
            Count(++read, all);
            if (fits)
                union.Add(new TermPayload(block.Value(term)), postings);
            if (++index == block.Count)
                return true;
        }
    }

    /// <summary>
    /// Handles a text so long that the index keeps only its ends, and these match. Whether the whole text matches is
    /// unknown, so the query fails rather than answering wrongly. Returns false only if no entry has the text any more, as
    /// may happen when an index is combined with its changes.
    /// </summary>
    private bool IsTold(ReadOnlySpan<byte> form, string how, int bytes) => context.EntriesWith(field, form, own: 1) == 0
        ? false
        : throw new IndexQueryException(
            $"A text of more than {TermForm.MaxWholeBytes} bytes {how} with {bytes} bytes of the query, and the index "
                + $"keeps no more of that end. Query at most {bytes} bytes.");

    private void Count(long read, long all)
    {
        if ((read & 1023) == 0)
            context.Check();
        if (read <= context.MaxTermsRead)
            return;

        string number = read == all ? $"{all:N0}" : $"more than {context.MaxTermsRead:N0} of {all:N0}";
        throw new IndexQueryException(
            $"The {what} on field '{context.View.Schema.Fields[field].Name}' would read {number} terms; "
                + $"{context.MaxTermsRead:N0} is the most. " +
            "Add a prefix: only terms that begin with the text before the first wildcard are read, so one of two or three "
                + "characters is mostly enough.");
    }

    private delegate bool TermTest(ReadOnlySpan<byte> form);

    internal delegate void TermFound(ReadOnlySpan<byte> form, TermPayload payload);

    /// <summary>The path of an automaton along a term, and the next term it could accept after failing.</summary>
    private sealed class TermPath(TermAutomaton automaton)
    {
        private readonly TermAutomaton.State[] _states = new TermAutomaton.State[TermForm.CutBytes + 1];
        private readonly int[] _characters = new int[TermForm.CutBytes + 1];
        private readonly int[] _places = new int[TermForm.CutBytes + 1];
        private readonly byte[] _target = new byte[TermForm.CutBytes + 4];
        private readonly byte[] _seen = new byte[TermForm.CutBytes];
        private int _depth;

        /// <summary>Whether the term matches; valid after <see cref="Run"/> returned true.</summary>
        public bool Accepts => _states[_depth].Accepts;

        /// <summary>
        /// Whether the automaton failed at a character of the term itself, so that all terms with the same prefix can be
        /// skipped.
        /// </summary>
        public bool CanSeek { get; private set; }

        /// <summary>Runs the automaton along a term; false as soon as it cannot match.</summary>
        public bool Run(ReadOnlySpan<byte> form)
        {
            ReadOnlySpan<byte> text = Seen(form);
            int whole = TermForm.IsCut(form) ? TermForm.HeadBytes : form.Length;
            int place = 0;
            _depth = 0;
            _states[0] = automaton.Start;
            while (place < text.Length && !_states[_depth].AcceptsRest)
            {
                bool isValid = Rune.DecodeFromUtf8(text[place..], out Rune rune, out int length)
                    == System.Buffers.OperationStatus.Done;
                TermAutomaton.State next = automaton.Step(_states[_depth], rune.Value);
                _characters[_depth] = rune.Value;
                _places[_depth] = place;
                if (automaton.IsDead(next))
                {
                    CanSeek = isValid && place + length <= whole;
                    return false;
                }

                place += length;
                _states[++_depth] = next;
            }

            return true;
        }

        /// <summary>
        /// Returns the smallest text above the term that the automaton could accept a continuation of; empty if there is
        /// none.
        /// </summary>
        public ReadOnlySpan<byte> FindNext(ReadOnlySpan<byte> form)
        {
            for (; _depth >= 0; _depth--)
            {
                int alive = automaton.NextAlive(_states[_depth], _characters[_depth]);
                if (alive < 0)
                    continue;

                // An invalid byte, read as U+FFFD, does not sort like its character; valid ones do.
                form[.._places[_depth]].CopyTo(_target);
                int length = _places[_depth] + new Rune(alive).EncodeToUtf8(_target.AsSpan(_places[_depth]));
                if (_target.AsSpan(0, length).SequenceCompareTo(form) > 0)
                    return _target.AsSpan(0, length);
            }

            return default;
        }

        /// <summary>
        /// Returns a truncated term as its head, one character U+FFFD and its tail; other terms unchanged.
        /// </summary>
        private ReadOnlySpan<byte> Seen(ReadOnlySpan<byte> form)
        {
            if (!TermForm.IsCut(form))
                return form;

            form[..TermForm.HeadBytes].CopyTo(_seen);
            int length = TermForm.HeadBytes + Rune.ReplacementChar.EncodeToUtf8(_seen.AsSpan(TermForm.HeadBytes));
            form[^TermForm.TailBytes..].CopyTo(_seen.AsSpan(length));
            return _seen.AsSpan(0, length + TermForm.TailBytes);
        }
    }
}
