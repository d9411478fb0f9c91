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
/// Gathers the entries of all terms of a field that fit a pattern: a union, in which an entry counts once. The dictionary is
/// walked in order; what begins in a way that cannot fit is passed over by seeking. Terms read are counted, and there is a limit
/// to them.
/// </summary>
/// <param name="context">The running query.</param>
/// <param name="field">The field.</param>
/// <param name="what">How the query is called in errors: <c>wildcard '*a*'</c>.</param>
internal sealed class TermScan(QueryContext context, int field, string what)
{
    /// <summary>Terms that the patterns of one query may read: at about ten million a second, a second or two.</summary>
    public const long MaxTerms = 16 << 20;

    /// <summary>Where so many were read, as some blocks have, more follow: the next are asked for.</summary>
    private const int ManyTerms = 64;

    private readonly string _dictionary = TreeNames.Terms(field);
    private byte[] _form = new byte[TermForm.CutBytes];

    /// <summary>Terms that begin with the bytes.</summary>
    public UnionOperator Prefix(byte[] prefix)
    {
        byte[] start = prefix[..Math.Min(prefix.Length, TermForm.HeadBytes)];
        return Walk(
            start,
            start.Length == prefix.Length
                ? null
                : form => TermForm.IsCut(form) ? IsTold(form, "begins", TermForm.HeadBytes) : form.StartsWith(prefix));
    }

    /// <summary>Terms that end with the bytes.</summary>
    public UnionOperator Suffix(byte[] suffix) => Walk([], suffix.Length <= TermForm.TailBytes
        ? form => TermForm.EndsWith(form, suffix)
        : form => TermForm.IsCut(form) && suffix.AsSpan().EndsWith(form[^TermForm.TailBytes..])
            ? IsTold(form, "ends", TermForm.TailBytes)
            : form.EndsWith(suffix));

    /// <summary>Terms that have the bytes in them.</summary>
    public UnionOperator Infix(byte[] infix) => Walk([], form => TermForm.Contains(form, infix));

    /// <summary>Terms that an automaton accepts.</summary>
    public UnionOperator Matching(TermAutomaton automaton)
    {
        var union = new UnionOperator(context) { Name = ("terms", context.View.Schema.Fields[field].Name, what) };
        Visit(automaton, (_, payload) => union.Add(payload, context.View.Postings(context.View.TextDictionary(field))));
        union.Seal();
        return union;
    }

    /// <summary>Calls <paramref name="found"/> for each term that an automaton accepts, in order.</summary>
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
                return; // the last of all
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
    /// Entries of all terms that begin with <paramref name="start"/> and pass the test, where there is one. Blocks are gone
    /// through where they lie.
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

    /// <summary>As <see cref="Walk"/>, along texts that are kept as numbers.</summary>
    private void WalkNumbers(UnionOperator union, byte[] start, TermTest? test)
    {
        using FieldTexts? texts = FieldTexts.Open(context.View, field);
        long read = 0, all = context.View.TextCount(field);
        if (start.Length == 0)
            Count(all, all);
        // is there
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

    /// <summary>Adds what fits of a block, from a term on; false where one does not begin so any more.</summary>
    private bool AddBlock(
        UnionOperator union, TermBlock block, int index, Tree? postings, byte[] start, TermTest? test, ref long read, long all)
    {
        // What all begin with mostly says it of all.
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
    /// A text so long that the index keeps its ends only, and these fit: whether it does as a whole cannot be told, and saying
    /// that it does not would be wrong. But of an index and the changes it has not seen it may be a text that nobody has any
    /// more: that does not fit.
    /// </summary>
    private bool IsTold(ReadOnlySpan<byte> form, string how, int bytes) => context.EntriesWith(field, form, own: 1) == 0
        ? false
        : throw new IndexQueryException(
            $"A text of more than {TermForm.MaxWholeBytes} bytes {how} with {bytes} bytes of what is asked for, and the index "
                + $"keeps no more of it there. Ask for at most {bytes} bytes.");

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
            "Add a prefix: only terms that begin with what stands before the first wildcard are read, so one of two or three "
                + "characters is mostly enough.");
    }

    private delegate bool TermTest(ReadOnlySpan<byte> form);

    internal delegate void TermFound(ReadOnlySpan<byte> form, TermPayload payload);

    /// <summary>The way of an automaton along one term, and from where it could not go on, the next term it could.</summary>
    private sealed class TermPath(TermAutomaton automaton)
    {
        private readonly TermAutomaton.State[] _states = new TermAutomaton.State[TermForm.CutBytes + 1];
        private readonly int[] _characters = new int[TermForm.CutBytes + 1];
        private readonly int[] _places = new int[TermForm.CutBytes + 1];
        private readonly byte[] _target = new byte[TermForm.CutBytes + 4];
        private readonly byte[] _seen = new byte[TermForm.CutBytes];
        private int _depth;

        /// <summary>Whether the term matches; after <see cref="Run"/> came to its end.</summary>
        public bool Accepts => _states[_depth].Accepts;

        /// <summary>
        /// Whether what could not go on is a character of the term, so that all terms with the same start can be passed over.
        /// </summary>
        public bool CanSeek { get; private set; }

        /// <summary>Goes along a term; false if it cannot match any more.</summary>
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

        /// <summary>The least text above the term that the automaton could go along; empty if there is none.</summary>
        public ReadOnlySpan<byte> FindNext(ReadOnlySpan<byte> form)
        {
            for (; _depth >= 0; _depth--)
            {
                int alive = automaton.NextAlive(_states[_depth], _characters[_depth]);
                if (alive < 0)
                    continue;

                // A broken byte read as U+FFFD says nothing about the order of bytes; valid ones order as their characters.
                form[.._places[_depth]].CopyTo(_target);
                int length = _places[_depth] + new Rune(alive).EncodeToUtf8(_target.AsSpan(_places[_depth]));
                if (_target.AsSpan(0, length).SequenceCompareTo(form) > 0)
                    return _target.AsSpan(0, length);
            }

            return default;
        }

        /// <summary>A term that was cut is seen as its start, one character U+FFFD, and its end.</summary>
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
