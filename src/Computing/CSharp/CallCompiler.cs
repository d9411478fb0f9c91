using System.Collections.Frozen;
using System.Linq.Expressions;
using System.Reflection;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Compiles calls of the functions of <see cref="Vocabulary"/>.</summary>
internal sealed class CallCompiler(TextCompiler compiler, TextSource source, ParameterExpression run)
{
    public Expression Visit(InvocationExpressionSyntax call, Scope scope)
    {
        if (source.IsSource(call, scope))
            return Expression.Property(run, nameof(Run.Source));
        return call.Expression switch
        {
            SimpleNameSyntax name => Function(call, name, scope),
            MemberAccessExpressionSyntax { Expression: ThisExpressionSyntax } member => Function(call, member.Name, scope),
            MemberAccessExpressionSyntax member when TextCompiler.TypeOf(member.Expression, scope) is { } type =>
                Static(call, type, member.Name, scope),
            MemberAccessExpressionSyntax member => Method(call, compiler.Visit(member.Expression, scope), member.Name, scope),
            MemberBindingExpressionSyntax member =>
                Method(call, scope.Receiver ?? throw source.Refuse(member, "'?.' follows a value."), member.Name, scope),
            _ => throw source.Refuse(call, $"'{TextCompiler.Short(call)}' is not among what an index may compute."),
        };
    }

    private Expression Method(InvocationExpressionSyntax call, Expression self, SimpleNameSyntax name, Scope scope)
    {
        List<Expression> arguments = Arguments(call, scope, out string form);
        if (name is GenericNameSyntax { Identifier.ValueText: "Value", TypeArgumentList.Arguments: [{ } type] }
            && arguments is [{ } member]
            && form == "v")
            return TextCompiler.Call(
                typeof(Conversions), nameof(Conversions.Cast), Expression.Constant(TextCompiler.TypeName(type)),
                TextCompiler.Call(typeof(MemberAccess), nameof(MemberAccess.At), self, member));
        if (name is GenericNameSyntax generic)
            form = Generic(generic, form);
        return Find(Vocabulary.Methods, name, "v" + form, [run, self, .. arguments]);
    }

    private Expression Static(InvocationExpressionSyntax call, string type, SimpleNameSyntax name, Scope scope)
    {
        if (type == "NoTracking")
            return Function(call, name, scope);
        List<Expression> arguments = Arguments(call, scope, out string form);
        string word = $"{type}_{name.Identifier.ValueText}";
        return Vocabulary.Statics.TryGetValue(Vocabulary.Key(word, form), out MethodInfo? method)
            ? Expression.Call(method, [run, .. arguments])
            : throw source.Refuse(
                name,
                $"'{type}.{name.Identifier.ValueText}' with {arguments.Count} arguments is not among what an index may call. "
                    + $"There are: {Vocabulary.Names(Vocabulary.Statics)}.");
    }

    private Expression Function(InvocationExpressionSyntax call, SimpleNameSyntax name, Scope scope)
    {
        string word = name.Identifier.ValueText;
        if (word is "LoadDocument")
            return Load(call, name, scope);
        List<Expression> arguments = Arguments(call, scope, out string form);
        if (word is "LoadCompareExchangeValue" or "AsJson" && name is GenericNameSyntax)
            form = "v";
        source.LoadsCompareExchange |= word == "LoadCompareExchangeValue";
        word = word is "SpatialGenerate" or "SpatialIndex"
            ? "CreateSpatialField"
            : word is "LoadVector" or "AsDocument" ? "" : word;
        return Find(Vocabulary.Functions, name, form, [run, .. arguments], word);
    }

    /// <summary>
    /// Compiles <c>LoadDocument(id, "Users")</c> or <c>LoadDocument&lt;User&gt;(id, "Users")</c>: the collection must be a
    /// literal.
    /// </summary>
    private Expression Load(InvocationExpressionSyntax call, SimpleNameSyntax name, Scope scope)
    {
        if (call.ArgumentList.Arguments is not [{ } id,
            {
                Expression: LiteralExpressionSyntax
                {
                    Token.Value: string collection
                }
            }] || collection.Length == 0)
            throw source.Refuse(
                name, "'LoadDocument' takes an id and the name of a collection as a text: LoadDocument(doc.UserId, \"Users\").");
        source.Loaded.Add(collection);
        return TextCompiler.Call(
            typeof(IndexFunctions), nameof(IndexFunctions.LoadDocument), run, compiler.Visit(id.Expression, scope),
            Expression.Constant(Value.Of(collection)));
    }

    private MethodCallExpression Find(
        FrozenDictionary<string, MethodInfo> words, SimpleNameSyntax name, string form, Expression[] arguments,
        string? word = null)
    {
        word ??= name.Identifier.ValueText;
        if (words.TryGetValue(Vocabulary.Key(word, form), out MethodInfo? method))
            return Expression.Call(method, arguments);
        string said = name.Identifier.ValueText;
        bool isKnown = words.Keys.Any(key => key.StartsWith(word + "(", StringComparison.Ordinal));
        throw source.Refuse(name, isKnown
            ? $"'{said}' does not take these arguments."
            : $"'{said}' is not among what an index may call. There are: {Vocabulary.Names(words)}.");
    }

    private List<Expression> Arguments(InvocationExpressionSyntax call, Scope scope, out string form)
    {
        var values = new List<Expression>();
        form = "";
        foreach (ArgumentSyntax argument in call.ArgumentList.Arguments)
        {
            if (argument.NameColon is not null && argument.NameColon.Name.Identifier.ValueText.Length == 0)
                throw source.Refuse(argument, "an argument stands by itself.");
            ExpressionSyntax value = argument.Expression;
            while (value is CastExpressionSyntax
                {
                    Expression: ParenthesizedExpressionSyntax
                    {
                        Expression: LambdaExpressionSyntax lambda
                    }
                })
                value = lambda; // clients cast functions to their type
            if (value is LambdaExpressionSyntax function)
            {
                Expression made = compiler.Lambda(function, scope);
                values.Add(made);
                form += (made.Type.GetGenericArguments().Length - 1).ToString(System.Globalization.CultureInfo.InvariantCulture);
            }
            else
            {
                values.Add(compiler.Visit(value, scope));
                form += "v";
            }
        }

        return values;
    }

    /// <summary>Ignores type arguments of sequence methods; <c>OfType</c> only removes null and missing elements.</summary>
    private string Generic(GenericNameSyntax name, string form) =>
        name.Identifier.ValueText is "OfType" or "Cast" or "ToList" or "ToArray" or "Select" or "SelectMany" or "Where"
            or "GroupBy" or "ToDictionary" or "OrderBy" ? form
            : throw source.Refuse(name, $"'{name.Identifier.ValueText}' takes no types.");
}
