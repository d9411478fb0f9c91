using Acornima;
using Acornima.Ast;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Reads what a text does with a variable of results, or with an element of one: which fields it gives them. Every use that is
/// not known to leave them as they are opens the shape.
/// </summary>
internal sealed class VariableUses(ResultShape shape, string name, ScriptScope scope, bool isElement)
{
    /// <summary>Methods of arrays that give their elements to a function, and keep nothing of them.</summary>
    private static readonly string[] _visiting = ["forEach", "some", "every"];

    /// <summary>Methods of arrays whose results have the same elements.</summary>
    private static readonly string[] _selecting = ["filter", "sort", "slice", "reverse", "flat", "concat", "map", "flatMap"];

    /// <summary>Methods that look at a variable, or at their argument, and return nothing of it.</summary>
    private static readonly string[] _looking = ["join", "includes", "indexOf", "hasOwnProperty"],
        _lookingAtArgument = ["Object.keys", "Object.freeze", "JSON.stringify", "Array.isArray"];

    private int _functions;

    /// <summary>Reads the uses in a part of the text.</summary>
    public void Read(Node node)
    {
        if (!ResultShape.HasStack())
        {
            shape.Open();
            return;
        }

        switch (node)
        {
            case Identifier:
                if (IsNamed(node))
                    shape.Open(); // a use that is not known
                break;
            case IFunction function:
                ReadFunction(function);
                break;
            case ReturnStatement { Argument: { } result } when _functions == 0 && !isElement:
                ReadResult(result);
                break;
            case ExpressionStatement { Expression: CallExpression call }:
                ReadResult(call); // nobody gets its result
                break;
            case VariableDeclarator declarator:
                if (!IsNamed(declarator.Id))
                    Read(declarator.Id);
                ReadIfAny(declarator.Init);
                break;
            case AssignmentExpression assignment:
                ReadAssignment(assignment);
                break;
            case UpdateExpression { Argument: MemberExpression member } when IsNamed(member.Object):
                Assign(member, node);
                break;
            case ForOfStatement { Left: { } left } loop:
                ReadLoop(left, loop.Right, loop.Body);
                break;
            case ForInStatement { Left: { } left } loop:
                ReadTarget(left);
                ReadUnlessNamed(loop.Right); // gives names of members
                Read(loop.Body);
                break;
            case IfStatement choice:
                ReadUnlessNamed(choice.Test);
                Read(choice.Consequent);
                ReadIfAny(choice.Alternate);
                break;
            case ConditionalExpression choice:
                ReadUnlessNamed(choice.Test);
                Read(choice.Consequent);
                Read(choice.Alternate);
                break;
            case LogicalExpression { Operator: Operator.LogicalAnd } both:
                ReadUnlessNamed(both.Left);
                Read(both.Right);
                break;
            case BinaryExpression and not LogicalExpression:
            case UnaryExpression and not UpdateExpression:
                foreach (Node operand in node.ChildNodes)
                    ReadUnlessNamed(operand);
                break;
            case MemberExpression member:
                if (!IsNamed(member.Object) || ResultShape.NameOf(member.Property, member.Computed) is null)
                    Read(member.Object);
                if (member.Computed)
                    Read(member.Property);
                break;
            case Property property:
                if (property.Computed)
                    Read(property.Key);
                Read(property.Value);
                break;
            case ObjectExpression made:
                foreach (Node member in made.Properties)
                    if (member is SpreadElement spread)
                        ReadUnlessNamed(spread.Argument); // a copy
                    else
                        Read(member);
                break;
            case CallExpression call:
                ReadCall(call, isKept: true);
                break;
            default:
                foreach (Node child in node.ChildNodes)
                    ReadIfAny(child);
                break;
        }
    }

    /// <summary>Reads an expression of which the value becomes a result, or a value of the variable, or is dropped.</summary>
    private void ReadResult(Node node)
    {
        switch (node)
        {
            case Identifier:
                break;
            case ArrayExpression several:
                foreach (Expression? one in several.Elements)
                    if (one is not null)
                        ReadResult(one);
                break;
            case SpreadElement spread:
                ReadResult(spread.Argument);
                break;
            case ParenthesizedExpression inner:
                ReadResult(inner.Expression);
                break;
            case ChainExpression chain:
                ReadResult(chain.Expression);
                break;
            case ConditionalExpression choice:
                ReadUnlessNamed(choice.Test);
                ReadResult(choice.Consequent);
                ReadResult(choice.Alternate);
                break;
            case LogicalExpression choice:
                ReadResult(choice.Left);
                ReadResult(choice.Right);
                break;
            case CallExpression call:
                ReadCall(call, isKept: false);
                break;
            default:
                Read(node);
                break;
        }
    }

    private void ReadFunction(IFunction function)
    {
        if (function.Params.Any(IsNamed))
            return; // the name is another variable inside
        _functions++;
        foreach (Node parameter in function.Params)
            Read(parameter);
        Read(function.Body);
        _functions--;
    }

    private void ReadAssignment(AssignmentExpression assignment)
    {
        switch (assignment.Left)
        {
            case Identifier variable when IsNamed(variable):
                if (isElement)
                    shape.Open();
                shape.Read(assignment.Right, scope);
                ReadResult(assignment.Right);
                return;
            case MemberExpression member when IsNamed(member.Object):
                Assign(member, assignment.Right);
                if (member.Computed)
                    Read(member.Property);
                break;
            default:
                ReadTarget(assignment.Left);
                break;
        }

        Read(assignment.Right);
    }

    private void Assign(MemberExpression member, Node value)
    {
        if (ResultShape.NameOf(member.Property, member.Computed) is { } field)
            shape.Add(field, value, scope);
        else
            shape.Open();
    }

    /// <summary>Reads what is assigned to. Of patterns, it is not followed what each name gets.</summary>
    private void ReadTarget(Node target)
    {
        if (target is MemberExpression member && !IsNamed(member.Object))
            Read(member);
        else if (target.DescendantNodesAndSelf().Any(IsNamed))
            shape.Open();
    }

    private void ReadLoop(Node left, Node right, Node body)
    {
        if (IsNamed(right) && left is VariableDeclaration { Declarations: [{ Id: Identifier element }] })
        {
            ReadElement(element.Name, scope, body);
        }
        else
        {
            ReadTarget(left);
            Read(right);
        }

        Read(body);
    }

    private void ReadElement(string element, ScriptScope inner, Node body)
    {
        if (element == name || !shape.TakesElement())
            shape.Open();
        else
            new VariableUses(shape, element, inner, isElement: true).Read(body);
    }

    /// <param name="call">The call.</param>
    /// <param name="isKept">Whether its value may be changed under another name.</param>
    private void ReadCall(CallExpression call, bool isKept)
    {
        string? method = call.Callee is MemberExpression { Computed: false, Property: Identifier called } ? called.Name : null;
        Node? of = (call.Callee as MemberExpression)?.Object;
        if (of is not null && IsNamed(of))
        {
            ReadMethod(call, method, isKept);
            return;
        }

        if (call.Callee is Identifier { Name: "boost" }
            || (of is Identifier type && _lookingAtArgument.Contains($"{type.Name}.{method}")))
        {
            foreach (Node argument in call.Arguments)
                ReadUnlessNamed(argument);
        }
        else if (of is Identifier { Name: "Object" } && method == "assign")
        {
            ReadAssign(call, isKept);
        }
        else if (!isKept && method is not null && _selecting.Contains(method) && of is not null)
        {
            ReadResult(of);
            ReadArguments(call, isResult: method == "concat");
        }
        else
        {
            Read(call.Callee);
            // What is added to a variable of results is followed with it.
            ReadArguments(
                call, isResult: method is "push" or "unshift" && of is Identifier all && shape.Follows(all.Name, scope));
        }
    }

    /// <summary>Reads a call of a method of the variable.</summary>
    private void ReadMethod(CallExpression call, string? method, bool isKept)
    {
        if (method is "push" or "unshift")
        {
            foreach (Node argument in call.Arguments)
                shape.Read(argument, scope);
            ReadArguments(call, isResult: true);
            return;
        }

        bool isVisited = method is not null && _visiting.Contains(method);
        bool isSelected = method is not null && _selecting.Contains(method) && !isKept;
        if (!isVisited && !isSelected && (method is null || !_looking.Contains(method)))
            shape.Open();
        if ((isVisited || isSelected) && method is not ("slice" or "flat" or "concat") && call.Arguments is [{ } first, ..])
            ReadVisitor(first, elements: method == "sort" ? 2 : 1);
        ReadArguments(call, isResult: isSelected && method == "concat");
    }

    /// <summary>Reads what a function does with the elements that it gets in its first parameters.</summary>
    private void ReadVisitor(Node function, int elements)
    {
        if (function is not IFunction { Params.Count: <= 2 } visitor) // others get the array, too
        {
            shape.Open();
            return;
        }

        var inner = new ScriptScope(visitor, scope);
        foreach (Node parameter in visitor.Params.Take(elements))
            if (parameter is not Identifier element)
                shape.Open();
            else if (visitor.Body is not Identifier)
                ReadElement(element.Name, inner, visitor.Body);
    }

    private void ReadAssign(CallExpression call, bool isKept)
    {
        if (call.Arguments is [{ } to, ..] && IsNamed(to))
        {
            foreach (Node argument in call.Arguments.Skip(1))
                shape.Read(argument, scope);
            if (isKept)
                shape.Open(); // its value is the variable
        }

        foreach (Node argument in call.Arguments)
            ReadUnlessNamed(argument);
    }

    private void ReadArguments(CallExpression call, bool isResult)
    {
        foreach (Node argument in call.Arguments)
            if (isResult)
                ReadResult(argument);
            else
                Read(argument);
    }

    private void ReadUnlessNamed(Node node)
    {
        if (!IsNamed(node))
            Read(node);
    }

    private void ReadIfAny(Node? node)
    {
        if (node is not null)
            Read(node);
    }

    private bool IsNamed(Node node) => node is Identifier identifier && identifier.Name == name;
}
