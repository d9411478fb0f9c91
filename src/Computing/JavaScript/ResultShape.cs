using System.Runtime.CompilerServices;
using Acornima;
using Acornima.Ast;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The fields of the results of a function, as far as its text says them: from literals, and from the variables and functions
/// of the text to which they lead. Where a result also comes from elsewhere, its shape is open.
/// </summary>
internal sealed class ResultShape
{
    /// <summary>The maximum number of variables that are followed, as each is looked for in all of its function.</summary>
    private const int MaxVariables = 256;

    private readonly List<MappedField> _fields = [];
    private readonly HashSet<Node> _functions = [];
    private readonly HashSet<(ScriptScope Scope, string Name)> _variables = [];
    private int _elements;

    /// <summary>The fields, in the order in which the text names them.</summary>
    public IReadOnlyList<MappedField> Fields => _fields;

    /// <summary>Whether results may have fields that the text does not name.</summary>
    public bool IsOpen { get; private set; }

    /// <summary>Notes that results may have fields that the text does not name.</summary>
    public void Open() => IsOpen = true;

    /// <summary>Returns whether a variable is followed as one of results.</summary>
    public bool Follows(string name, ScriptScope scope) =>
        scope.Declaring(name) is { } declaring && _variables.Contains((declaring, name));

    /// <summary>Returns whether the elements of one more variable may be followed.</summary>
    public bool TakesElement() => _elements++ < MaxVariables;

    /// <summary>Reads what a function returns: the function itself, or a name of one.</summary>
    public void ReadFunction(Node function, ScriptScope scope)
    {
        if (!_functions.Add(function))
            return; // it calls itself, or is called twice
        if (function is Identifier name && scope.Declaring(name.Name) is { } declaring && HasStack())
        {
            foreach (Node value in declaring.Declared(name.Name))
                ReadFunction(value, declaring);
            return;
        }

        if (function is not IFunction { Generator: false } made || !HasStack())
        {
            IsOpen = true;
            return;
        }

        var own = new ScriptScope(made, scope);
        if (made.Body is Expression result)
            Read(result, own);
        else
            ReadReturns(made.Body, own);
    }

    /// <summary>Returns whether a value contains dynamic fields.</summary>
    public static bool NamesFields(Node value) => Calls(value, "createField");

    private static bool Calls(Node value, string function) =>
        (value is CallExpression { Callee: Identifier callee } && callee.Name == function)
            || value.ChildNodes.Any(child => child is not null && Calls(child, function));

    /// <summary>Reads the return values of a function, excluding those of nested functions.</summary>
    private void ReadReturns(Node node, ScriptScope scope)
    {
        if (node is ReturnStatement { Argument: { } result })
            Read(result, scope);
        foreach (Node child in node.ChildNodes)
            if (child is not (null or IFunction))
                ReadReturns(child, scope);
    }

    /// <summary>Reads a result, or an array of results.</summary>
    public void Read(Node node, ScriptScope scope)
    {
        switch (node)
        {
            case Literal or Identifier { Name: "undefined" } or UnaryExpression:
                break; // no result
            case ObjectExpression made:
                foreach (Node member in made.Properties)
                    ReadMember(member, scope);
                break;
            case ArrayExpression several:
                foreach (Expression? one in several.Elements)
                    if (one is not null)
                        Read(one, scope);
                break;
            case SpreadElement spread:
                Read(spread.Argument, scope);
                break;
            case ConditionalExpression choice:
                Read(choice.Consequent, scope);
                Read(choice.Alternate, scope);
                break;
            case LogicalExpression choice:
                if (choice.Operator != Operator.LogicalAnd)
                    Read(choice.Left, scope);
                Read(choice.Right, scope);
                break;
            case SequenceExpression several:
                Read(several.Expressions[^1], scope);
                break;
            case AssignmentExpression { Left: Identifier } assignment:
                Read(assignment.Right, scope);
                break;
            case ParenthesizedExpression inner:
                Read(inner.Expression, scope);
                break;
            case ChainExpression chain:
                Read(chain.Expression, scope);
                break;
            case Identifier name:
                ReadVariable(name.Name, scope);
                break;
            case CallExpression call:
                ReadCall(call, scope);
                break;
            default:
                IsOpen = true;
                break;
        }
    }

    private void ReadCall(CallExpression call, ScriptScope scope)
    {
        switch (call.Callee)
        {
            case Identifier { Name: "boost" } when call.Arguments is [{ } weighted, ..]:
                Read(weighted, scope);
                break;
            case MemberExpression { Object: Identifier { Name: "Object" }, Property: Identifier { Name: "assign" } }:
                foreach (Node argument in call.Arguments)
                    Read(argument, scope);
                break;
            case MemberExpression { Property: Identifier { Name: "map" or "flatMap" } } when call.Arguments is [{ } inner, ..]:
                ReadFunction(inner, scope); // an object for each element
                break;
            case MemberExpression
            {
                Property: Identifier { Name: "filter" or "slice" or "reverse" or "sort" or "flat" }, Object: { } source
            }:
                Read(source, scope);
                break;
            case MemberExpression { Property: Identifier { Name: "concat" }, Object: { } first }:
                Read(first, scope);
                foreach (Node argument in call.Arguments)
                    Read(argument, scope);
                break;
            default:
                ReadFunction(call.Callee, scope);
                break;
        }
    }

    /// <summary>Reads the values of a variable, and what is done to it in all of the function that declares it.</summary>
    private void ReadVariable(string name, ScriptScope scope)
    {
        if (scope.Declaring(name) is not { } declaring || _variables.Count == MaxVariables || !HasStack())
        {
            IsOpen = true;
            return;
        }

        if (!_variables.Add((declaring, name)))
            return;
        foreach (Node value in declaring.Declared(name))
            Read(value, declaring);
        var uses = new VariableUses(this, name, declaring, isElement: false);
        foreach (Node body in declaring.Bodies)
            uses.Read(body);
    }

    private void ReadMember(Node member, ScriptScope scope)
    {
        if (member is not Property property)
            Read(member, scope); // what is spread
        else if (NameOf(property.Key, property.Computed) is { } name)
            Add(name, property.Value, scope);
        else
            IsOpen = true;
    }

    /// <summary>Adds a field of results, with the value that it gets.</summary>
    public void Add(string name, Node value, ScriptScope scope)
    {
        if (NamesFields(value))
            return;
        MappedFieldKind kind = KindOf(value, scope);
        int known = _fields.FindIndex(field => field.Name == name);
        if (known < 0)
            _fields.Add(new MappedField(name, kind));
        else if (kind != MappedFieldKind.Value)
            _fields[known] = new MappedField(name, kind);
    }

    private static MappedFieldKind KindOf(Node value, ScriptScope scope)
    {
        IEnumerable<Node> values = value is Identifier name && scope.Declaring(name.Name) is { } declaring
            ? declaring.Declared(name.Name)
            : [value];
        return values.Any(static one => one is not IFunction && Calls(one, "createSpatialField")) ? MappedFieldKind.Spatial
            : values.Any(static one => one is not IFunction && Calls(one, "createVector")) ? MappedFieldKind.Vector
            : MappedFieldKind.Value;
    }

    /// <summary>Returns whether a text that leads from name to name may be followed further.</summary>
    public static bool HasStack() => RuntimeHelpers.TryEnsureSufficientExecutionStack();

    /// <summary>Returns the name of a member; null if the text does not say it.</summary>
    public static string? NameOf(Node key, bool isComputed) => key switch
    {
        Identifier identifier when !isComputed => identifier.Name,
        StringLiteral text => text.Value,
        _ => null,
    };
}
