using Microsoft.CodeAnalysis.CSharp.Syntax;
using Treepie.Computations;

namespace Treepie.Computing.CSharp;

/// <summary>
/// What can be determined about source code without running it: the fields of its results, whether they have a boost, and by
/// what a reduce groups.
/// </summary>
internal sealed class TextShape
{
    private readonly TextSource _source;
    private readonly List<MappedField> _fields = [];
    private readonly HashSet<string> _copied = [];
    private string? _document; // the name of the document where results are made
    private bool _isMixed; // results are made in several places

    private TextShape(TextSource source) => _source = source;

    /// <summary>The fields of the results.</summary>
    public IReadOnlyList<MappedField> Fields => _fields;

    /// <summary>The fields that are, in every result, a copy of the document's member of the same name.</summary>
    public IReadOnlyCollection<string> Copied => _isMixed ? [] : _copied;

    /// <summary>Whether results have a boost.</summary>
    public bool HasBoost { get; private set; }

    /// <summary>Whether results have fields whose names are determined by documents.</summary>
    public bool HasDynamicFields { get; private set; }

    /// <summary>Whether a document has at most one result.</summary>
    public bool IsSingle { get; private set; } = true;

    /// <exception cref="InvalidIndexDefinitionException">The code does not end with objects.</exception>
    public static TextShape Of(TextSource source)
    {
        var shape = new TextShape(source);
        shape.ReadSequence(source.Text);
        if (shape._fields.Count == 0 && !shape.HasDynamicFields)
            throw source.Refuse(source.Text, "it has no fields: it ends with 'select new { … }'.");
        return shape;
    }

    /// <summary>Returns the members by which a reduce groups; empty if all results are one group.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The code does not group, or not by members.</exception>
    public static IReadOnlyList<string> KeysOf(TextSource source)
    {
        List<ExpressionSyntax> keys =
        [
            .. source.Text.DescendantNodesAndSelf().OfType<GroupClauseSyntax>().Select(static group => group.ByExpression),
            .. source.Text.DescendantNodesAndSelf().OfType<InvocationExpressionSyntax>()
                .Where(
                    static call => call.Expression is MemberAccessExpressionSyntax {
                        Name.Identifier.ValueText: "GroupBy",
                        Expression: IdentifierNameSyntax { Identifier.ValueText: "results" } })
                .Select(
                    call => (call.ArgumentList.Arguments.FirstOrDefault()?.Expression as LambdaExpressionSyntax)?.ExpressionBody
                        ?? throw source.Refuse(call, "'GroupBy' takes a function 'x => x.Key'.")),
        ];
        if (keys.Count == 0)
            throw source.Refuse(
                source.Text, "a reduce groups: 'from r in results group r by r.City into g select new { City = g.Key, … }'.");
        return keys[0] switch
        {
            LiteralExpressionSyntax => [],
            AnonymousObjectCreationExpressionSyntax several =>
                [.. several.Initializers.Select(member => Member(source, member.Expression))],
            { } one => [Member(source, one)],
        };
    }

    private static string Member(TextSource source, ExpressionSyntax node) => node switch
    {
        MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax } member => member.Name.Identifier.ValueText,
        ParenthesizedExpressionSyntax inner => Member(source, inner.Expression),
        CastExpressionSyntax cast => Member(source, cast.Expression),
        _ => throw source.Refuse(
            node,
            "a reduce groups by members of the results, as 'group r by r.City' or 'by new { r.City, r.Year }': compute in the "
                + "map what is to be grouped by."),
    };

    /// <summary>Reads the elements of a sequence.</summary>
    private void ReadSequence(ExpressionSyntax node)
    {
        switch (node)
        {
            case ParenthesizedExpressionSyntax inner:
                ReadSequence(inner.Expression);
                break;
            case QueryExpressionSyntax query:
                ReadQuery(query);
                break;
            case InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax call } invocation:
                ReadCall(invocation, call);
                break;
            default:
                throw _source.Refuse(node, "a map ends with objects: 'select new { … }' or '.Select(x => new { … })'.");
        }
    }

    private void ReadQuery(QueryExpressionSyntax query)
    {
        QueryBodySyntax body = query.Body;
        while (true)
        {
            IsSingle &= !body.Clauses.Any(static clause => clause is FromClauseSyntax);
            if (body.Continuation is not { } next)
                break;
            body = next.Body;
        }

        IsSingle &= query.FromClause.Expression is not (QueryExpressionSyntax or InvocationExpressionSyntax);
        _document = body == query.Body && IsDocuments(query.FromClause.Expression)
            ? query.FromClause.Identifier.ValueText
            : null;
        ReadElement(
            body.SelectOrGroup is SelectClauseSyntax select
                ? select.Expression
                : throw _source.Refuse(body.SelectOrGroup, "it ends with 'select new { … }'."));
        _document = null;
    }

    /// <summary>Returns whether a sequence is that of the documents: <c>docs</c>, <c>docs.Orders</c>.</summary>
    private static bool IsDocuments(ExpressionSyntax sequence) => sequence switch
    {
        IdentifierNameSyntax name => name.Identifier.ValueText == "docs",
        MemberAccessExpressionSyntax member => member.Expression is IdentifierNameSyntax && IsDocuments(member.Expression),
        _ => false,
    };

    private void ReadCall(InvocationExpressionSyntax invocation, MemberAccessExpressionSyntax call)
    {
        List<LambdaExpressionSyntax> functions = [
            .. invocation.ArgumentList.Arguments
                .Select(static argument => Function(argument.Expression))
                .OfType<LambdaExpressionSyntax>()];
        string name = call.Name.Identifier.ValueText;
        IsSingle &= name is "Select" or "Where";
        if (name == "Select" && functions is [{ ExpressionBody: { } made }])
        {
            IsSingle &= call.Expression is not InvocationExpressionSyntax;
            _document = IsDocuments(call.Expression) && functions[0] is SimpleLambdaExpressionSyntax one
                ? one.Parameter.Identifier.ValueText
                : null;
            ReadElement(made);
            _document = null;
        }
        else if (name is "SelectMany" && functions is [_, { ExpressionBody: { } result }])
        {
            ReadElement(result);
        }
        else if (name is "SelectMany" && functions is [{ ExpressionBody: { } inner }])
        {
            ReadSequence(inner);
        }
        else if (name is "Where" or "Distinct" or "Take" or "Skip" or "Concat" or "Union" or "ToList" or "ToArray"
            or "AsEnumerable")
        {
            _isMixed |= name is "Concat" or "Union";
            ReadSequence(call.Expression);
        }
        else
        {
            throw _source.Refuse(call.Name, "a map ends with objects: 'select new { … }' or '.Select(x => new { … })'.");
        }
    }

    private static LambdaExpressionSyntax? Function(ExpressionSyntax node) => node switch
    {
        LambdaExpressionSyntax function => function,
        ParenthesizedExpressionSyntax inner => Function(inner.Expression),
        CastExpressionSyntax cast => Function(cast.Expression),
        _ => null,
    };

    private void ReadElement(ExpressionSyntax node)
    {
        switch (node)
        {
            case ParenthesizedExpressionSyntax inner:
                ReadElement(inner.Expression);
                break;
            case CastExpressionSyntax cast:
                ReadElement(cast.Expression);
                break;
            case ConditionalExpressionSyntax choice:
                _isMixed |= choice is { WhenTrue: not LiteralExpressionSyntax, WhenFalse: not LiteralExpressionSyntax };
                foreach (ExpressionSyntax one in (ExpressionSyntax[])[choice.WhenTrue, choice.WhenFalse])
                    if (one is not LiteralExpressionSyntax)
                        ReadElement(one);
                break;
            case InvocationExpressionSyntax
            {
                Expression: MemberAccessExpressionSyntax
                {
                    Name.Identifier.ValueText: "Boost"
                } boost
            }:
                HasBoost = true;
                ReadElement(boost.Expression);
                break;
            case AnonymousObjectCreationExpressionSyntax made:
                foreach (AnonymousObjectMemberDeclaratorSyntax member in made.Initializers)
                    Add(
                        member.NameEquals?.Name.Identifier.ValueText ?? new TextCompiler(_source).ImpliedName(member.Expression),
                        member.Expression);
                break;
            case ObjectCreationExpressionSyntax { Initializer: { } initializer }:
                foreach (ExpressionSyntax member in initializer.Expressions)
                    AddMember(member);
                break;
            default:
                throw _source.Refuse(node, "the results are objects with named members: 'new { … }'.");
        }
    }

    private void AddMember(ExpressionSyntax member)
    {
        (ExpressionSyntax key, ExpressionSyntax value) = member switch
        {
            AssignmentExpressionSyntax { Left: ImplicitElementAccessSyntax { ArgumentList.Arguments: [{ } only] } } assignment =>
                (only.Expression, assignment.Right),
            AssignmentExpressionSyntax assignment => (assignment.Left, assignment.Right),
            InitializerExpressionSyntax { Expressions: [{ } first, { } second] } => (first, second),
            _ => throw _source.Refuse(member, "a member of a result has a name and a value."),
        };
        Add(key switch
        {
            IdentifierNameSyntax name => name.Identifier.ValueText,
            LiteralExpressionSyntax { Token.Value: string name } => name,
            _ => throw _source.Refuse(
                key, "the name of a field is known before any document is: for others there is CreateField(name, value)."),
        }, value);
    }

    private void Add(string name, ExpressionSyntax value)
    {
        HashSet<string> calls = [.. value.DescendantNodesAndSelf().OfType<InvocationExpressionSyntax>().Select(NameOf)];
        if (calls.Contains("CreateField"))
        {
            HasDynamicFields = true;
            return;
        }

        MappedFieldKind kind = calls.Contains("CreateSpatialField") || calls.Contains("SpatialGenerate") ? MappedFieldKind.Spatial
            : calls.Contains("CreateVector") ? MappedFieldKind.Vector
            : MappedFieldKind.Value;
        bool isNew = !_fields.Exists(field => field.Name == name);
        if (isNew)
            _fields.Add(new MappedField(name, kind));
        if (!IsCopy(name, value))
            _copied.Remove(name);
        else if (isNew)
            _copied.Add(name);
    }

    /// <summary>Returns whether a value is a member of the document that has this name; <c>Id</c> is none.</summary>
    private bool IsCopy(string name, ExpressionSyntax value) =>
        value is MemberAccessExpressionSyntax { Expression: IdentifierNameSyntax owner } member
            && owner.Identifier.ValueText == _document
            && member.Name.Identifier.ValueText == name
            && name != "Id";

    private static string NameOf(InvocationExpressionSyntax call) => call.Expression switch
    {
        SimpleNameSyntax name => name.Identifier.ValueText,
        MemberAccessExpressionSyntax { Expression: ThisExpressionSyntax } member => member.Name.Identifier.ValueText,
        _ => "",
    };
}
