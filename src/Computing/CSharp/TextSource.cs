using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Treepie.Computations;

namespace Treepie.Computing.CSharp;

/// <summary>
/// Parsed source code of an index, with its source of documents and error positions. Sources are <c>docs</c>,
/// <c>docs.Orders</c>, <c>docs["Orders"]</c> and <c>docs.WhereEntityIs("A", "B")</c>; <c>timeSeries</c>,
/// <c>timeSeries.Users</c> and <c>timeSeries.Users.Heart</c>, <c>counters</c> likewise; in a reduce, <c>results</c>.
/// </summary>
internal sealed class TextSource
{
    /// <summary>The maximum length of the source code, in characters.</summary>
    public const int MaxLength = 64 * 1024;

    /// <summary>The maximum nesting of brackets: the time of the parser is quadratic in it.</summary>
    private const int MaxNesting = 256;

    private readonly IndexTexts _index;
    private readonly string _part;
    private readonly string _root;
    private SyntaxNode? _source;

    private TextSource(IndexTexts index, string part, string root, ExpressionSyntax text)
    {
        _index = index;
        _part = part;
        _root = root;
        Text = text;
    }

    /// <summary>The whole expression.</summary>
    public ExpressionSyntax Text { get; }

    /// <summary>The collections of the source; empty for all documents.</summary>
    public List<string> Collections { get; } = [];

    /// <summary>The kind of items in the source.</summary>
    public IndexSourceType Source { get; private set; }

    /// <summary>The name of the time series or counter of the source; null for all.</summary>
    public string? BesideName { get; private set; }

    /// <summary>The collections from which documents are loaded.</summary>
    public SortedSet<string> Loaded { get; } = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Whether it loads compare-exchange values.</summary>
    public bool LoadsCompareExchange { get; set; }

    /// <summary>Whether a source was found.</summary>
    public bool HasSource => _source is not null;

    /// <summary>Parses a map.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The text is not an expression.</exception>
    public static TextSource OfMap(IndexTexts index, string text) => new(index, "Maps", "docs", Parse(index, "Maps", text));

    /// <summary>Parses a reduce.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The text is not an expression.</exception>
    public static TextSource OfReduce(IndexTexts index, string text) =>
        new(index, "Reduce", "results", Parse(index, "Reduce", text));

    public InvalidIndexDefinitionException Refuse(SyntaxNodeOrToken node, string problem) =>
        Refuse(_index, _part, node.GetLocation(), problem);

    /// <summary>Returns whether a node is the source, of which there must be only one.</summary>
    public bool IsSource(ExpressionSyntax node, Scope scope)
    {
        if (node == _source)
            return true;
        if (TryReadBeside(node, scope, out IndexSourceType source))
        {
            if (_source is not null)
                throw Refuse(node, "a second source stands in it: a text has one.");
            _source = node;
            Source = source;
            return true;
        }

        if (!IsRoot(Root(node)) || scope.Find(_root) is not null || !TryReadCollections(node))
            return false;
        if (_source is not null)
            throw Refuse(
                node,
                $"'{_root}' is used a second time, but a map has one source. Load related documents "
                    + "(LoadDocument), or give the index a map for each collection and a reduce by their common key.");
        _source = node;
        return true;
    }

    private bool IsRoot(ExpressionSyntax node) => node is IdentifierNameSyntax name && name.Identifier.ValueText == _root;

    /// <summary>
    /// Reads <c>timeSeries</c> or <c>counters</c>, with optional names of a collection and of one of its series or counters.
    /// </summary>
    private bool TryReadBeside(ExpressionSyntax node, Scope scope, out IndexSourceType source)
    {
        source = IndexSourceType.Documents;
        if (_root != "docs")
            return false;
        var names = new Stack<string>();
        for (ExpressionSyntax? at = node; at is not null;)
        {
            if (at is IdentifierNameSyntax { Identifier.ValueText: "timeSeries" or "counters" } root)
            {
                if (names.Count > 2 || scope.Find(root.Identifier.ValueText) is not null)
                    return false;
                source = root.Identifier.ValueText == "counters" ? IndexSourceType.Counters : IndexSourceType.TimeSeries;
                if (names.TryPop(out string? collection))
                    Collections.Add(collection);
                BesideName = names.TryPop(out string? name) ? name : null;
                return true;
            }

            (at, string? part) = at switch
            {
                MemberAccessExpressionSyntax { Parent: not InvocationExpressionSyntax } member =>
                    (member.Expression, member.Name.Identifier.ValueText),
                ElementAccessExpressionSyntax
                {
                    ArgumentList.Arguments: [{ Expression: LiteralExpressionSyntax { Token.Value: string text } }]
                } element => (element.Expression, text),
                _ => (null, null),
            };
            if (part is not null)
                names.Push(part);
        }

        return false;
    }

    private static ExpressionSyntax Root(ExpressionSyntax node) => node switch
    {
        MemberAccessExpressionSyntax member => member.Expression,
        ElementAccessExpressionSyntax element => element.Expression,
        InvocationExpressionSyntax
        {
            Expression: MemberAccessExpressionSyntax
            {
                Name.Identifier.ValueText: "WhereEntityIs"
            } call
        } => call.Expression,
        _ => node,
    };

    private bool TryReadCollections(ExpressionSyntax node)
    {
        if (_root != "docs")
            return node is IdentifierNameSyntax;
        switch (node)
        {
            case IdentifierNameSyntax:
                return true;
            case MemberAccessExpressionSyntax { Parent: not InvocationExpressionSyntax } member:
                Add(member.Name.Identifier.ValueText);
                return true;
            case ElementAccessExpressionSyntax
            {
                ArgumentList.Arguments: [
                {
                    Expression: LiteralExpressionSyntax
                    {
                        Token.Value: string name
                    }
                }]
            }:
                Add(name);
                return true;
            case InvocationExpressionSyntax call:
                foreach (ExpressionSyntax argument in call.ArgumentList.Arguments.SelectMany(
                    static argument => Elements(argument.Expression)))
                    Add(
                        argument is LiteralExpressionSyntax { Token.Value: string one }
                            ? one
                            : throw Refuse(argument, "the name of a collection is expected, a text."));
                return true;
            default:
                return false;
        }
    }

    private void Add(string collection)
    {
        if (!string.Equals(collection, "@all_docs", StringComparison.OrdinalIgnoreCase))
            Collections.Add(collection);
    }

    private static ExpressionSyntax[] Elements(ExpressionSyntax node) => node switch
    {
        ImplicitArrayCreationExpressionSyntax array => [.. array.Initializer.Expressions],
        ArrayCreationExpressionSyntax { Initializer: { } initializer } => [.. initializer.Expressions],
        _ => [node],
    };
    /// <summary>
    /// Limits the nesting of brackets. Brackets in strings count too, but realistic code stays far below the limit.
    /// </summary>
    private static void RequireNesting(IndexTexts index, string part, string text)
    {
        int depth = 0;
        foreach (char one in text)
        {
            if (one is '(' or '[' or '{')
                depth++;
            else if (one is ')' or ']' or '}')
                depth--;
            if (depth > MaxNesting)
                throw new InvalidIndexDefinitionException(
                    index.IndexName, part, $"a text of it has more than {MaxNesting} brackets within each other.");
        }
    }


    private static ExpressionSyntax Parse(IndexTexts index, string part, string text)
    {
        if (text.Length > MaxLength)
            throw new InvalidIndexDefinitionException(
                index.IndexName, part, $"a text of it has {text.Length:N0} characters; {MaxLength:N0} is the most.");
        RequireNesting(index, part, text);
        ExpressionSyntax expression = SyntaxFactory.ParseExpression(
            text.TrimEnd().TrimEnd(';'), options: CSharpParseOptions.Default.WithLanguageVersion(LanguageVersion.CSharp12));
        foreach (Diagnostic error in expression.GetDiagnostics())
            if (error.Severity == DiagnosticSeverity.Error)
                throw Refuse(
                    index, part, error.Location, error.GetMessage(System.Globalization.CultureInfo.InvariantCulture) + ".");
        return expression;
    }

    private static InvalidIndexDefinitionException Refuse(IndexTexts index, string part, Location? location, string problem)
    {
        Microsoft.CodeAnalysis.Text.LinePosition place = location?.GetLineSpan().StartLinePosition ?? default;
        string what = part == "Reduce" ? "the reduce" : "a map";
        return new InvalidIndexDefinitionException(
            index.IndexName, part, $"{what}, at line {place.Line + 1}, column {place.Character + 1}: {problem}");
    }
}
