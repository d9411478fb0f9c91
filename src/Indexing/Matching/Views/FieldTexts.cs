using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Views;

/// <summary>
/// The texts of a field in order: those of its dictionary, or the text forms of its numbers if it has only numbers. See
/// <see cref="IndexView.HasNumbersAlone"/>.
/// </summary>
internal sealed class FieldTexts : IDisposable
{
    private readonly TermCursor? _terms;
    private readonly NumberTextCursor? _numbers;

    private FieldTexts(TermCursor? terms, NumberTextCursor? numbers, Tree? postings)
    {
        _terms = terms;
        _numbers = numbers;
        Postings = postings;
    }

    /// <summary>The current text in its stored form, valid until the cursor moves.</summary>
    public ReadOnlySpan<byte> Key => _numbers is null ? _terms!.Key : _numbers.Key; // exactly one cursor is set

    /// <summary>The entries that contain the current text.</summary>
    public TermPayload Payload => new(_numbers is null ? _terms!.Value : _numbers.Value); // as above

    /// <summary>The postings tree of the dictionary, which holds long lists.</summary>
    public Tree? Postings { get; }

    /// <summary>Opens the texts, positioned before the first; null if there are none.</summary>
    public static FieldTexts? Open(IndexView view, int field)
    {
        string dictionary = view.TextDictionary(field);
        if (view.Dictionary(dictionary) is not { } tree)
            return null;

        Tree? postings = view.Postings(dictionary);
        return dictionary == TreeNames.Terms(field)
            ? new FieldTexts(tree.OpenCursor(), null, postings)
            : new FieldTexts(null, new NumberTextCursor(tree, back: false), postings);
    }

    /// <summary>Moves to the first text at or after the given one; false if there is none.</summary>
    public bool Seek(ReadOnlySpan<byte> text) => _numbers is null ? _terms!.Seek(text) : _numbers.Seek(text); // as above

    /// <summary>Moves to the next text; false after the last.</summary>
    public bool MoveNext() => _numbers is null ? _terms!.MoveNext() : _numbers.MoveNext(); // as above

    public void Dispose()
    {
        _terms?.Dispose();
        _numbers?.Dispose();
    }
}
