using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Views;

/// <summary>
/// The texts of a field in their order: those of its dictionary, or, where it has numbers alone, those that its numbers have. See
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

    /// <summary>The text it stands on, in its stored form; it lives until this moves.</summary>
    public ReadOnlySpan<byte> Key => _numbers is null ? _terms!.Key : _numbers.Key; // one of them is there

    /// <summary>Entries that have it.</summary>
    public TermPayload Payload => new(_numbers is null ? _terms!.Value : _numbers.Value); // as above

    /// <summary>Where long lists lie.</summary>
    public Tree? Postings { get; }

    /// <summary>Opens them before the first; null if there is none.</summary>
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

    /// <summary>Goes to the first text that is not before one; false if there is none.</summary>
    public bool Seek(ReadOnlySpan<byte> text) => _numbers is null ? _terms!.Seek(text) : _numbers.Seek(text); // as above

    /// <summary>Goes to the next text; false behind the last.</summary>
    public bool MoveNext() => _numbers is null ? _terms!.MoveNext() : _numbers.MoveNext(); // as above

    public void Dispose()
    {
        _terms?.Dispose();
        _numbers?.Dispose();
    }
}
